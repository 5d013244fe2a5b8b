// Starts Swagger UI on the page that pages.ts serves. Runs in the browser: SwaggerUIBundle is loaded before it.
window.SwaggerUIBundle({
  url: "/api/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  filter: true,
  defaultModelsExpandDepth: 0,
  // The badge would send the document to a foreign host.
  validatorUrl: null,
})

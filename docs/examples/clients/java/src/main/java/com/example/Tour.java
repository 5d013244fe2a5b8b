package com.example;

import com.example.platform.ApiClient;
import com.example.platform.ApiException;
import com.example.platform.api.ChatsApi;
import com.example.platform.api.EventWebhooksApi;
import com.example.platform.api.MessagesApi;
import com.example.platform.model.AiDisableReason;
import com.example.platform.model.Chat;
import com.example.platform.model.ChatPage;
import com.example.platform.model.CreateChatInput;
import com.example.platform.model.CreateEventWebhookInput;
import com.example.platform.model.CreateMessageInput;
import com.example.platform.model.Error;
import com.example.platform.model.EventDelivery;
import com.example.platform.model.EventDeliveryStatus;
import com.example.platform.model.EventType;
import com.example.platform.model.Messenger;
import com.example.platform.model.PatchChatsIdAiControlBody;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.EmptyWebhookSecretException;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;

/** Uses the platform's REST API with the client that OpenAPI Generator generates. */
public final class Tour {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The account of this run's chats, so that it finds its own. */
  private static final String FROM_ID = "tour-" + UUID.randomUUID();

  private final ApiClient client = new ApiClient();
  private final ChatsApi chats;
  private final MessagesApi messages;
  private final EventWebhooksApi eventWebhooks;

  private Tour(String url, String token) {
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> request.header("X-Access-Token", token));
    chats = new ChatsApi(client);
    messages = new MessagesApi(client);
    eventWebhooks = new EventWebhooksApi(client);
  }

  private Chat createChat(String name) throws ApiException {
    var body = new CreateChatInput().messenger(Messenger.PLAYGROUND).fromId(FROM_ID).externalId(UUID.randomUUID().toString()).name(name);
    return chats.postChats(body, null);
  }

  /** Every chat of the tour, page by page: each page has the cursor of the next one. */
  private List<Chat> allChats() throws ApiException {
    var all = new ArrayList<Chat>();
    String cursor = null;
    do {
      ChatPage page = chats.getChats(ChatsApi.APIGetChatsRequest.newBuilder().fromId(FROM_ID).take(1).cursor(cursor).build());
      all.addAll(page.getData());
      cursor = page.getNextCursor();
    } while (cursor != null);
    return all;
  }

  /** Sends the same request twice, as after a lost response: the message is stored once. */
  private boolean sendOnce(UUID chatId, String text) throws ApiException {
    var key = UUID.randomUUID().toString();
    var body = new CreateMessageInput().chatId(chatId).text(text);
    return messages.postMessages(body, key).getId().equals(messages.postMessages(body, key).getId());
  }

  /** The error of a request for a chat that does not exist. */
  private Error refused() throws IOException {
    try {
      chats.getChatsId(UUID.randomUUID(), null);
      throw new IllegalStateException("A chat that does not exist was returned");
    } catch (ApiException refused) {
      return client.getObjectMapper().readValue(refused.getResponseBody(), Error.class);
    }
  }

  /** Receives an event of an endpoint, and verifies its signature over the bytes as they arrived. */
  private String receiveEvent() throws IOException, ApiException {
    var secret = new AtomicReference<String>();
    var received = new AtomicReference<String>();
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/events", exchange -> {
      var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      var headers = HttpHeaders.of(exchange.getRequestHeaders(), (name, value) -> true);
      var event = eventType(secret.get(), body, headers);
      event.ifPresent(type -> received.set(type + ", forged refused: " + eventType(secret.get(), body + " ", headers).isEmpty()));
      exchange.sendResponseHeaders(event.isPresent() ? 204 : 400, -1);
      exchange.close();
    });
    server.start();
    try {
      var url = "http://127.0.0.1:" + server.getAddress().getPort() + "/events";
      var endpoint = eventWebhooks.postEventWebhooks(new CreateEventWebhookInput().url(url).types(List.of(EventType.MESSAGE_CREATED)));
      secret.set(endpoint.getSecret());
      EventDelivery delivery = eventWebhooks.postEventWebhooksIdTest(endpoint.getId());
      if (delivery.getStatus() != EventDeliveryStatus.SUCCEEDED)
        throw new IllegalStateException("The event was not delivered: " + delivery.getAttempts());
      eventWebhooks.deleteEventWebhooksId(endpoint.getId());
      return received.get();
    } finally {
      server.stop(0);
    }
  }

  /** The type of a request's event; empty when its signature is not of this secret or older than five minutes. */
  private static Optional<String> eventType(String secret, String body, HttpHeaders headers) {
    try {
      new Webhook(secret).verify(body, headers);
      return Optional.of(JSON.readTree(body).get("type").asText());
    } catch (WebhookVerificationException forged) {
      return Optional.empty();
    } catch (IOException | EmptyWebhookSecretException invalid) {
      throw new IllegalStateException(invalid);
    }
  }

  private void run() throws IOException, ApiException {
    var olena = createChat("Olena");
    createChat("Marcus");
    System.out.println("chats: " + allChats().stream().map(Chat::getName).sorted().collect(Collectors.joining(", ")));
    System.out.println("stored once: " + sendOnce(olena.getId(), "Your order is on its way."));
    var takesOver = new PatchChatsIdAiControlBody().isUnderAiControl(false).aiDisableReason(AiDisableReason.MANUAL);
    System.out.println("AI answers: " + chats.patchChatsIdAiControl(olena.getId(), takesOver).getIsUnderAiControl());
    var refused = refused();
    System.out.println("refused: " + refused.getStatusCode() + " " + refused.getCode());
    System.out.println("event: " + receiveEvent());
  }

  public static void main(String[] arguments) throws IOException, ApiException {
    new Tour(System.getenv("PLATFORM_URL"), System.getenv("PLATFORM_TOKEN")).run();
  }
}

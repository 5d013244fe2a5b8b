/** The texts about MCP servers and their tools in German, by their English words. */
export const germanOfToolServers = {
  "Accept the change": "Änderung annehmen",
  Accepted: "Angenommen",
  "Another header": "Weiterer Header",
  "Change {name}": "{name} ändern",
  "Client ID": "Client-ID",
  "Client credentials (OAuth)": "Client-Zugangsdaten (OAuth)",
  "Client secret": "Client-Geheimnis",
  "Create tool server": "Werkzeugserver anlegen",
  "Credentials are set. They are never shown, and are deleted when the address moves to another server.":
    "Zugangsdaten sind gesetzt. Sie werden nie gezeigt. Zeigt die Adresse auf einen anderen Server, werden sie gelöscht.",
  "Deletes its tools of all assistants and the log of their calls, too.":
    "Löscht auch seine Werkzeuge aller Assistenten und das Protokoll ihrer Aufrufe.",
  Header: "Header",
  Headers: "Header",
  "Headers, for example Authorization": "Header, zum Beispiel Authorization",
  Invalid: "Ungültig",
  "Issuer: the address of the authorization server, which alone gets the secret":
    "Aussteller: die Adresse des Autorisierungsservers, der allein das Geheimnis bekommt",
  "It cannot be enabled:": "Es kann nicht eingeschaltet werden:",
  "It lists no tool.": "Er nennt kein Werkzeug.",
  "Its server has changed it since it was accepted. The assistant does not use it until the change is accepted.":
    "Sein Server hat es geändert, seit es angenommen wurde. Der Assistent benutzt es nicht, bis die Änderung angenommen ist.",
  "Leave as they are": "Lassen, wie sie sind",
  "Listed {time}": "Gelesen {time}",
  "Never listed": "Nie gelesen",
  "New tool server": "Neuer Werkzeugserver",
  "No credentials are set.": "Keine Zugangsdaten sind gesetzt.",
  "No tool server yet.": "Noch kein Werkzeugserver.",
  "Only owners and administrators change tool servers.": "Nur Inhaber und Administratoren ändern Werkzeugserver.",
  "Refresh now": "Jetzt neu lesen",
  "Remove header {number}": "Header {number} entfernen",
  "Save server": "Server speichern",
  "Save time limit": "Zeitgrenze speichern",
  "Scopes, separated by spaces; empty for those that the server names":
    "Scopes, durch Leerzeichen getrennt; leer für die, die der Server nennt",
  "Servers of the Model Context Protocol (MCP). No assistant uses their tools until somebody enables them, one by one, on the page of the assistant.":
    "Server des Model Context Protocol (MCP). Kein Assistent benutzt ihre Werkzeuge, bis jemand sie einzeln auf der Seite des Assistenten einschaltet.",
  "Set new ones": "Neue setzen",
  "Switch off": "Ausschalten",
  "Test call, log, time limit": "Testaufruf, Protokoll, Zeitgrenze",
  "The server no longer lists this tool.": "Der Server nennt dieses Werkzeug nicht mehr.",
  "The tool has changed since it was shown, and was read again. Look at it before you choose.":
    "Das Werkzeug hat sich geändert, seit es gezeigt wurde, und wurde neu gelesen. Sehen Sie es an, bevor Sie wählen.",
  "There is no tool server yet. Owners and administrators add one here: {view}.":
    "Es gibt noch keinen Werkzeugserver. Inhaber und Administratoren fügen hier einen hinzu: {view}.",
  "Tool servers": "Werkzeugserver",
  "Tools of tool servers": "Werkzeuge von Werkzeugservern",
  "Tools of {name}": "Werkzeuge von {name}",
  Unauthorized: "Nicht berechtigt",
  Unreachable: "Nicht erreichbar",
  Value: "Wert",
  "What the server says now": "Was der Server jetzt sagt",
  "credentials are set": "Zugangsdaten sind gesetzt",
  "tools: {count}": "Werkzeuge: {count}",
}

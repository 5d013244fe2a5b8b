import type { germanOfToolServers } from "./de-tool-servers.js"

/** The texts about MCP servers and their tools in Ukrainian, by their English words. */
export const ukrainianOfToolServers: Readonly<Record<keyof typeof germanOfToolServers, string>> = {
  "Accept the change": "Прийняти зміну",
  Accepted: "Прийнято",
  "Another header": "Ще один заголовок",
  "Change {name}": "Змінити {name}",
  "Client ID": "ID клієнта",
  "Client credentials (OAuth)": "Облікові дані клієнта (OAuth)",
  "Client secret": "Секрет клієнта",
  "Create tool server": "Створити сервер інструментів",
  "Credentials are set. They are never shown, and are deleted when the address moves to another server.":
    "Облікові дані задано. Їх ніколи не показують і видаляють, коли адреса вказує на інший сервер.",
  "Deletes its tools of all assistants and the log of their calls, too.":
    "Видаляє також його інструменти в усіх асистентів і журнал їхніх викликів.",
  Header: "Заголовок",
  Headers: "Заголовки",
  "Headers, for example Authorization": "Заголовки, наприклад Authorization",
  Invalid: "Некоректний",
  "Issuer: the address of the authorization server, which alone gets the secret":
    "Видавець: адреса сервера авторизації, який єдиний отримує секрет",
  "It cannot be enabled:": "Його не можна ввімкнути:",
  "It lists no tool.": "Він не має жодного інструмента.",
  "Its server has changed it since it was accepted. The assistant does not use it until the change is accepted.":
    "Його сервер змінив його, відколи його прийняли. Асистент не користується ним, доки зміну не прийнято.",
  "Leave as they are": "Залишити, як є",
  "Listed {time}": "Прочитано {time}",
  "Never listed": "Ніколи не прочитано",
  "New tool server": "Новий сервер інструментів",
  "No credentials are set.": "Облікові дані не задано.",
  "No tool server yet.": "Ще немає сервера інструментів.",
  "Only owners and administrators change tool servers.": "Лише власники й адміністратори змінюють сервери інструментів.",
  "Refresh now": "Оновити зараз",
  "Remove header {number}": "Видалити заголовок {number}",
  "Save server": "Зберегти сервер",
  "Save time limit": "Зберегти обмеження часу",
  "Scopes, separated by spaces; empty for those that the server names":
    "Області дії (scopes) через пробіл; порожньо — ті, що називає сервер",
  "Servers of the Model Context Protocol (MCP). No assistant uses their tools until somebody enables them, one by one, on the page of the assistant.":
    "Сервери Model Context Protocol (MCP). Жоден асистент не користується їхніми інструментами, доки хтось не ввімкне їх по одному на сторінці асистента.",
  "Set new ones": "Задати нові",
  "Switch off": "Вимкнути",
  "Test call, log, time limit": "Пробний виклик, журнал, обмеження часу",
  "The server no longer lists this tool.": "Сервер більше не має цього інструмента.",
  "The tool has changed since it was shown, and was read again. Look at it before you choose.":
    "Інструмент змінився, відколи його показано, і його прочитано знову. Перегляньте його, перш ніж обирати.",
  "There is no tool server yet. Owners and administrators add one here: {view}.":
    "Сервера інструментів ще немає. Власники й адміністратори додають його тут: {view}.",
  "Tool servers": "Сервери інструментів",
  "Tools of tool servers": "Інструменти серверів",
  "Tools of {name}": "Інструменти {name}",
  Unauthorized: "Немає доступу",
  Unreachable: "Недоступний",
  Value: "Значення",
  "What the server says now": "Що сервер каже тепер",
  "credentials are set": "облікові дані задано",
  "tools: {count}": "інструментів: {count}",
}

// Command tour uses the platform's REST API with the client that oapi-codegen generates.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"sort"
	"strings"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"example.com/platform-tour/platform"
)

var (
	ctx = context.Background()
	api = connect()
	// The account of this run's chats, so that it finds its own.
	fromID = "tour-" + uuid.NewString()
)

func connect() *platform.ClientWithResponses {
	url := os.Getenv("PLATFORM_URL")
	if url == "" {
		url = "http://127.0.0.1:4000"
	}
	withToken := func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-Access-Token", os.Getenv("PLATFORM_TOKEN"))
		return nil
	}
	return must(platform.NewClientWithResponses(url, platform.WithRequestEditorFn(withToken)))
}

// must returns the result of a function, and ends the program when it failed.
func must[T any](result T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return result
}

// data returns the body of a successful response, and ends the program when the platform refused the request.
func data[T any](success *T, body []byte) T {
	if success == nil {
		var refused platform.Error
		if err := json.Unmarshal(body, &refused); err != nil {
			log.Fatalf("no error of the platform: %s", body)
		}
		log.Fatalf("%s: %s (request %s)", refused.Code, refused.Message, refused.RequestId)
	}
	return *success
}

func createChat(name string) platform.Chat {
	externalID := uuid.NewString()
	body := platform.CreateChatInput{Messenger: platform.MessengerPlayground, FromId: fromID, ExternalId: &externalID, Name: &name}
	response := must(api.PostChatsWithResponse(ctx, nil, body))
	return data(response.JSON201, response.Body)
}

// allChats returns every chat of the tour, page by page: each page has the cursor of the next one.
func allChats() []platform.Chat {
	var chats []platform.Chat
	take := 1
	params := platform.GetChatsParams{FromId: &fromID, Take: &take}
	for {
		response := must(api.GetChatsWithResponse(ctx, &params))
		page := data(response.JSON200, response.Body)
		chats = append(chats, page.Data...)
		if page.NextCursor == nil {
			return chats
		}
		params.Cursor = page.NextCursor
	}
}

// sendOnce sends the same request twice, as after a lost response: the message is stored once.
func sendOnce(chatID uuid.UUID, text string) bool {
	key := uuid.NewString()
	send := func() platform.Message {
		params := platform.PostMessagesParams{IdempotencyKey: &key}
		response := must(api.PostMessagesWithResponse(ctx, &params, platform.CreateMessageInput{ChatId: &chatID, Text: &text}))
		return data(response.JSON201, response.Body)
	}
	return send().Id == send().Id
}

// receiveEvent receives an event of an endpoint, and verifies its signature over the bytes as they arrived.
func receiveEvent() string {
	var webhook *standardwebhooks.Webhook
	var received string
	server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil || webhook.Verify(body, request.Header) != nil {
			writer.WriteHeader(http.StatusBadRequest)
			return
		}
		var event struct{ Type string }
		if err := json.Unmarshal(body, &event); err != nil {
			log.Fatal(err)
		}
		isForgedRefused := webhook.Verify(append(body, ' '), request.Header) != nil
		received = fmt.Sprintf("%s, forged refused: %t", event.Type, isForgedRefused)
		writer.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	input := platform.CreateEventWebhookInput{Url: server.URL + "/events", Types: []platform.EventType{platform.EventTypeMESSAGECREATED}}
	created := must(api.PostEventWebhooksWithResponse(ctx, input))
	endpoint := data(created.JSON201, created.Body)
	webhook = must(standardwebhooks.NewWebhook(*endpoint.Secret))
	tested := must(api.PostEventWebhooksIdTestWithResponse(ctx, endpoint.Id))
	delivery := data(tested.JSON201, tested.Body)
	if delivery.Status != platform.EventDeliveryStatusSucceeded {
		log.Fatalf("the event was not delivered: %+v", delivery.Attempts)
	}
	deleted := must(api.DeleteEventWebhooksIdWithResponse(ctx, endpoint.Id))
	data(deleted.JSON200, deleted.Body)
	return received
}

func main() {
	olena := createChat("Olena")
	createChat("Marcus")
	var names []string
	for _, chat := range allChats() {
		names = append(names, *chat.Name)
	}
	sort.Strings(names)
	fmt.Println("chats:", strings.Join(names, ", "))
	fmt.Println("stored once:", sendOnce(olena.Id, "Your order is on its way."))
	manual := platform.Manual
	takesOver := platform.PatchChatsIdAiControlBody{IsUnderAiControl: false, AiDisableReason: &manual}
	taken := must(api.PatchChatsIdAiControlWithResponse(ctx, olena.Id, takesOver))
	fmt.Println("AI answers:", data(taken.JSON200, taken.Body).IsUnderAiControl)
	refused := must(api.GetChatsIdWithResponse(ctx, uuid.New(), nil))
	fmt.Println("refused:", refused.JSON404.StatusCode, refused.JSON404.Code)
	fmt.Println("event:", receiveEvent())
}

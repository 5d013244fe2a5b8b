// Lists chats, creates one, takes it over and sends a message.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"example.com/platform-client/platform"
)

var (
	ctx    = context.Background()
	client = platform.NewClient()
	onOff  = map[bool]string{true: "on", false: "off"}
)

func main() {
	assistants := must(platform.FirstAssistant(ctx, client)).Assistants.Nodes
	if len(assistants) == 0 {
		log.Fatal("The company has no assistant")
	}
	fmt.Println("assistant:", assistants[0].Name)

	if next := printPage(1, nil); next != nil {
		printPage(2, next)
	}

	name, text := "Dora", "Hello, Dora!"
	input := platform.CreateChatInput{Messenger: platform.MessengerPlayground, FromId: "example", Name: &name, AssistantId: &assistants[0].Id}
	chat := must(platform.CreateChat(ctx, client, input)).CreateChat
	fmt.Printf("created: %s on %s, AI is %s\n", *chat.Name, chat.Messenger, onOff[chat.IsUnderAiControl])

	taken := must(platform.TakeOver(ctx, client, chat.Id)).SetAiControl
	fmt.Printf("taken over: AI is %s, %s\n", onOff[taken.IsUnderAiControl], *taken.AiDisableReason)

	message := must(platform.SendMessage(ctx, client, platform.CreateMessageInput{ChatId: &chat.Id, Text: &text})).CreateMessage
	fmt.Printf("sent: %s (%s)\n", *message.Text, message.Role)
}

// printPage prints a page of the chats of the playground; it returns the cursor of the next page, or nil after the last one.
func printPage(number int, after *string) *string {
	messenger := platform.MessengerPlayground
	where := platform.ChatWhere{Messenger: &platform.MessengerFilter{Eq: &messenger}}
	chats := must(platform.Chats(ctx, client, where, 2, after)).Chats
	var names []string
	for _, chat := range chats.Nodes {
		if chat.Name != nil {
			names = append(names, *chat.Name)
		}
	}
	fmt.Printf("page %d: %s\n", number, strings.Join(names, ", "))
	if !chats.PageInfo.HasNextPage {
		return nil
	}
	return chats.PageInfo.EndCursor
}

func must[Response any](response Response, err error) Response {
	if err != nil {
		log.Fatal(err)
	}
	return response
}

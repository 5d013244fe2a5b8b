// Prints each new message of any chat, until it is stopped.
package main

import (
	"context"
	"fmt"
	"log"

	"example.com/platform-client/platform"
)

func main() {
	ctx := context.Background()
	socket := platform.NewSocket()
	failed, err := socket.Start(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer socket.Close()
	// After a lost connection, subscribe again with the ID of the last event in place of nil.
	events, _, err := platform.Events(ctx, socket, []platform.EventType{platform.EventTypeMessageCreated}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for {
		select {
		case response := <-events:
			if response.Data == nil {
				log.Fatal("The subscription has ended: ", response.Errors)
			}
			event := response.Data.Events
			if event.Message != nil && event.Message.Text != nil {
				fmt.Printf("%s: %s\n", event.Type, *event.Message.Text)
			}
		case err := <-failed:
			log.Fatal(err)
		}
	}
}

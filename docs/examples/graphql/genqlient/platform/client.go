// Package platform has the operations of operations.graphql, which genqlient generates, and the clients that send them.
package platform

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/gorilla/websocket"
)

// The address of the server, and an access token of a company.
var (
	url   = cmp.Or(os.Getenv("PLATFORM_URL"), "http://127.0.0.1:4000")
	token = os.Getenv("PLATFORM_TOKEN")
)

// NewClient returns a client of queries and mutations.
func NewClient() graphql.Client {
	return graphql.NewClient(url+"/graphql", &http.Client{Transport: authorized{http.DefaultTransport}})
}

// NewSocket returns a client of subscriptions; its Start connects it.
func NewSocket() graphql.WebSocketClient {
	address := "ws" + strings.TrimPrefix(url, "http") + "/graphql"
	credentials := graphql.WithConnectionParams(map[string]any{"accessToken": token})
	return graphql.NewClientUsingWebSocket(address, dialer{websocket.DefaultDialer}, credentials)
}

type authorized struct{ next http.RoundTripper }

func (transport authorized) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("X-Access-Token", token)
	return transport.next.RoundTrip(request)
}

type dialer struct{ *websocket.Dialer }

func (dialer dialer) DialContext(ctx context.Context, address string, header http.Header) (graphql.WSConn, error) {
	connection, _, err := dialer.Dialer.DialContext(ctx, address, header)
	return connection, err
}

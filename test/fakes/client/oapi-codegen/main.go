// A shop in Go with the client that oapi-codegen makes. It prints what it was told, as JSON.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"example.com/shop/payments"
)

var ctx = context.Background()

func verified(header string, body []byte) (event payments.Event) {
	parts := strings.Split(header, ",")
	timestamp := strings.TrimPrefix(parts[0], "t=")
	seconds, err := strconv.ParseFloat(timestamp, 64)
	if err != nil || math.Abs(float64(time.Now().Unix())-seconds) > 300 {
		log.Fatal("signed at another time: ", header)
	}
	mac := hmac.New(sha256.New, []byte(os.Getenv("WEBHOOK_SECRET")))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := "v1=" + hex.EncodeToString(mac.Sum(nil))
	isGenuine := false
	for _, part := range parts[1:] {
		isGenuine = isGenuine || hmac.Equal([]byte(part), []byte(expected))
	}
	if !isGenuine {
		log.Fatal("not signed by the service: ", header)
	}
	if err := json.Unmarshal(body, &event); err != nil {
		log.Fatal(err)
	}
	return event
}

func receive() <-chan payments.Event {
	events := make(chan payments.Event, 10)
	handler := func(response http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			log.Fatal(err)
		}
		events <- verified(request.Header.Get("X-Service-Signature"), body)
		response.WriteHeader(http.StatusNoContent)
	}
	go func() {
		log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(handler)))
	}()
	return events
}

func create(client *payments.ClientWithResponses, order payments.CreatePayment) *payments.CreatePaymentResponse {
	key := fmt.Sprint("go-", time.Now().UnixNano())
	order.OrderId, order.Amount, order.Currency = "go-1", 1250, payments.CreatePaymentCurrencyEUR
	response, err := client.CreatePaymentWithResponse(ctx, &payments.CreatePaymentParams{IdempotencyKey: &key}, order)
	if err != nil {
		log.Fatal(err)
	}
	return response
}

func main() {
	events := receive()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
		return nil
	}
	client, err := payments.NewClientWithResponses(os.Getenv("BASE_URL"), payments.WithRequestEditorFn(authorize))
	if err != nil {
		log.Fatal(err)
	}

	plan := payments.SandboxPlan{Outcome: payments.SandboxPlanOutcomePaid}
	paid := create(client, payments.CreatePayment{Sandbox: &plan}).JSON201
	event := <-events
	if event.PaymentId != paid.PaymentId {
		log.Fatal("the event of another payment")
	}
	read, err := client.GetPaymentWithResponse(ctx, paid.PaymentId)
	if err != nil || read.JSON200 == nil {
		log.Fatal(err, read)
	}
	amount := int64(50)
	refunded, err := client.CreateRefundWithResponse(ctx, paid.PaymentId,
		&payments.CreateRefundParams{IdempotencyKey: "go-refund"}, payments.CreateRefund{Amount: &amount})
	if err != nil || refunded.JSON201 == nil {
		log.Fatal(err, refunded)
	}

	open := create(client, payments.CreatePayment{}).JSON201
	reason := "sold out"
	cancelled, err := client.CancelPaymentWithResponse(ctx, open.PaymentId, payments.CancelPayment{Reason: &reason})
	if err != nil || cancelled.JSON200 == nil {
		log.Fatal(err, cancelled)
	}
	gateway := "no-such-gateway"
	refused, err := create(client, payments.CreatePayment{Gateway: &gateway}).JSON422.AsErrorVALIDATIONFAILED()
	if err != nil {
		log.Fatal(err)
	}

	told, err := json.Marshal(map[string]any{
		"created":      paid.Status,
		"event":        event.Event,
		"status":       event.Status,
		"order_id":     event.OrderId,
		"amount":       event.Amount,
		"read":         read.JSON200.Status,
		"cancelled_by": []*string{read.JSON200.CancelledBy, cancelled.JSON200.CancelledBy},
		"refund":       []any{refunded.JSON201.Amount, refunded.JSON201.Reason},
		"refused":      refused.Error.Code,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(told))
}

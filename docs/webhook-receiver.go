// go run webhook-receiver.go SECRET_FILE [PORT]; the file holds the secret that you were shown.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxBodyBytes     = 64 * 1024
	toleranceSeconds = 300
)

// isGenuine is true if the payment service sent exactly these bytes, just now.
func isGenuine(header string, rawBody []byte, secret string, now time.Time) bool {
	timestamp := ""
	var digests []string
	for _, part := range strings.Split(header, ",") {
		// A proxy may put spaces after the commas.
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if name == "t" && timestamp == "" {
			timestamp = value
		}
		if name == "v1" {
			digests = append(digests, value)
		}
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	// Both sides count: a timestamp in the future is as suspicious as an old one.
	if away := now.Unix() - seconds; err != nil || away > toleranceSeconds || away < -toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	// There are two digests during a rotation of the secret. One match is enough.
	for _, digest := range digests {
		if hmac.Equal(expected, []byte(digest)) {
			return true
		}
	}
	return false
}

type event struct {
	Event     string `json:"event"`
	EventID   string `json:"event_id"`
	PaymentID string `json:"payment_id"`
	OrderID   string `json:"order_id"`
	Status    string `json:"status"`
	Amount    int64  `json:"amount"`
	Currency  string `json:"currency"`
	Test      bool   `json:"test"`
	// Empty for null.
	FailureCode string `json:"failure_code"`
	// In events of refunds and disputes, whose own amount and currency are others. Otherwise 0 and empty.
	PaymentAmount   int64  `json:"payment_amount"`
	PaymentCurrency string `json:"payment_currency"`
	AmountRefunded  int64  `json:"amount_refunded"`
	AmountDisputed  int64  `json:"amount_disputed"`
}

type order struct {
	status   string
	amount   int64
	currency string
	// True where you test your shop.
	test bool
	// The payment that changed it last.
	payment string
}

var (
	// Each request has a goroutine of its own.
	oneAtATime sync.Mutex
	// In your database: a table with a unique index, written in the same transaction as the order.
	seen = map[string]bool{}
	// In your database.
	orders = map[string]*order{
		"order-1042": {"pending", 1250, "EUR", false, ""},
	}
	// In these an order waits for money. All others are your own business: paid, shipped, done, refunded.
	waiting = map[string]bool{"pending": true, "failed": true, "cancelled": true, "expired": true}
)

// statusAfter is the status that the event gives its order, where the order allows it. Empty: none.
func statusAfter(e event) string {
	switch e.Event {
	case "payment.paid", "payment.failed", "payment.cancelled", "payment.expired":
		return e.Status
	case "dispute.closed":
		if e.Status != "lost" {
			return ""
		}
	case "refund.succeeded":
	default:
		return "" // There may be new kinds.
	}
	if e.AmountRefunded+e.AmountDisputed < e.PaymentAmount {
		return ""
	}
	return "refunded"
}

func change(e event) {
	fmt.Printf("%s %s for order %s\n", e.Event, e.PaymentID, e.OrderID)
	// Before or after the event of the payment that has paid the order. It changes no order.
	if e.FailureCode == "order_already_paid" {
		fmt.Printf("Tell the payer of %s: the order is paid, and this money goes back\n", e.PaymentID)
		return
	}
	amount, currency := e.Amount, e.Currency
	if e.PaymentAmount != 0 {
		amount = e.PaymentAmount
	}
	if e.PaymentCurrency != "" {
		currency = e.PaymentCurrency
	}
	found, status := orders[e.OrderID], statusAfter(e)
	// Test events come here, too.
	if status == "" || found == nil || found.test != e.Test || found.amount != amount || found.currency != currency {
		return
	}
	isSame := found.payment == e.PaymentID
	// Its money has gone back, and another payment buys it again.
	isBoughtAgain := status == "paid" && found.status == "refunded" && !isSame
	if !waiting[found.status] && !isBoughtAgain && !(status == "refunded" && isSame) {
		return
	}
	found.status, found.payment = status, e.PaymentID
	fmt.Printf("Order %s is %s\n", e.OrderID, status)
}

func handle(e event) {
	oneAtATime.Lock()
	defer oneAtATime.Unlock()
	if seen[e.EventID] {
		return // The same event again.
	}
	change(e)
	// After its work: what breaks off comes again.
	seen[e.EventID] = true
}

func receive(response http.ResponseWriter, request *http.Request, secret string) int {
	// The raw bytes: JSON that was parsed and written again may have other bytes.
	rawBody, err := io.ReadAll(http.MaxBytesReader(response, request.Body, maxBodyBytes))
	if err != nil {
		return http.StatusRequestEntityTooLarge
	}
	signature := request.Header.Get("X-Service-Signature")
	if !isGenuine(signature, rawBody, secret, time.Now()) {
		if signature != "" {
			log.Print("refused: no fresh signature of these bytes; JSON that was parsed and written again has other bytes")
		}
		return http.StatusBadRequest
	}
	var e event
	if err := json.Unmarshal(rawBody, &e); err != nil {
		log.Print("not accepted, so the service sends it again: ", err)
		return http.StatusInternalServerError
	}
	handle(e)
	return http.StatusNoContent
}

func main() {
	secretFile, port := "webhook-secret", "8080"
	if len(os.Args) > 1 {
		secretFile = os.Args[1]
	}
	if len(os.Args) > 2 {
		port = os.Args[2]
	}
	file, err := os.ReadFile(secretFile)
	if err != nil {
		log.Fatal(err)
	}
	secret := strings.TrimSpace(string(file))
	// Anybody could sign with an empty key.
	if !strings.HasPrefix(secret, "whsec_") {
		log.Fatalf("%s holds no whsec_… secret", secretFile)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Listening on port", listener.Addr().(*net.TCPAddr).Port)
	server := http.Server{
		ReadTimeout: time.Minute,
		Handler: http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
			response.WriteHeader(receive(response, request, secret))
		}),
	}
	log.Fatal(server.Serve(listener))
}

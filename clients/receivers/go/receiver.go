// Receives webhooks of provisor (Standard Webhooks), and prints each event once. Go 1.19 or later, and its standard library:
// go run receiver.go
//
//	WEBHOOK_SECRET  secrets (whsec_...) or public keys (whpk_...), several with spaces between: during a rotation both count
//	PORT            on the loopback address, 8080 by default: a proxy with TLS stands before it
//
// Exit status 2: one of these is missing or wrong, which one line on standard error says. (`go run` ends with 1 whatever the
// status of the program: build it where the status counts.)
//
// verify is what to take into a program of your own; handle is where that program does its work.
package main

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	tolerance    = 5 * time.Minute
	bodyBytesMax = 65536
	seenMax      = 100000
)

var (
	idForm        = regexp.MustCompile(`^[A-Za-z0-9_-]{1,256}$`)
	timestampForm = regexp.MustCompile(`^[1-9][0-9]{0,11}$`)
)

// A key: the bytes of a secret (v1), or a public key (v1a).
type key struct {
	scheme string
	raw    []byte
}

func readKeys(text string) ([]key, error) {
	var keys []key
	for _, word := range strings.Fields(text) {
		prefix, encoded, _ := strings.Cut(word, "_")
		raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
		switch {
		case err != nil:
			return nil, errors.New("what follows the prefix of a secret is not base64")
		case prefix == "whsec" && len(raw) >= 24:
			keys = append(keys, key{"v1", raw})
		case prefix == "whpk" && len(raw) == ed25519.PublicKeySize:
			keys = append(keys, key{"v1a", raw})
		default:
			return nil, errors.New("a secret is whsec_ and 24 bytes or more, a public key whpk_ and 32 bytes")
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no secret")
	}
	return keys, nil
}

func (k key) signed(content, signature []byte) bool {
	if k.scheme == "v1a" {
		return len(signature) == ed25519.SignatureSize && ed25519.Verify(k.raw, content, signature)
	}
	mac := hmac.New(sha256.New, k.raw)
	mac.Write(content)
	return hmac.Equal(mac.Sum(nil), signature) // takes the same time wherever they differ
}

// verify returns nil where one of the signatures is by one of the keys. body: the bytes as they came.
func verify(keys []key, id, timestamp, signatures string, body []byte, now time.Time) error {
	if !idForm.MatchString(id) || !timestampForm.MatchString(timestamp) {
		return errors.New("webhook-id or webhook-timestamp is missing or malformed")
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return err
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return errors.New("webhook-timestamp differs from this clock by more than five minutes")
	}
	content := append([]byte(id+"."+timestamp+"."), body...)
	for _, word := range strings.Split(signatures, " ") {
		scheme, encoded, _ := strings.Cut(word, ",")
		signature, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil {
			continue
		}
		for _, k := range keys {
			if k.scheme == scheme && k.signed(content, signature) {
				return nil
			}
		}
	}
	return errors.New("no signature is by a key of this receiver")
}

// Ids of what has been handled, the latest of them. A delivery can be repeated as long as the service keeps it, seven days by
// default: a program of your own keeps the ids that long, where it keeps its work and in one transaction with it.
type seenIDs struct {
	lock  sync.Mutex
	ids   map[string]bool
	order []string
}

// once reports whether work was done now. Where it fails, the id is not kept, and the next attempt counts.
func (s *seenIDs) once(id string, work func() error) (bool, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.ids[id] {
		return false, nil
	}
	if err := work(); err != nil {
		return false, err
	}
	s.ids[id] = true
	s.order = append(s.order, id)
	if len(s.order) > seenMax {
		delete(s.ids, s.order[0])
		s.order = s.order[1:]
	}
	return true, nil
}

func handle(id string, body []byte) error {
	event := struct{ Type string }{"text"}
	if err := json.Unmarshal(body, &event); err != nil {
		return err
	}
	fmt.Println("handled", id, event.Type)
	return nil
}

func receiver(keys []key) http.HandlerFunc {
	seen := &seenIDs{ids: map[string]bool{}}
	return func(reply http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodPost {
			reply.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(reply, request.Body, bodyBytesMax))
		if err != nil {
			reply.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		head := request.Header
		id := head.Get("webhook-id")
		if err := verify(keys, id, head.Get("webhook-timestamp"), head.Get("webhook-signature"), body, time.Now()); err != nil {
			log.Print("refused: ", err)
			reply.WriteHeader(http.StatusUnauthorized)
			return
		}
		first, err := seen.once(id, func() error { return handle(id, body) })
		if err != nil { // the service tries again
			log.Print("not handled: ", err)
			reply.WriteHeader(http.StatusInternalServerError)
			return
		}
		if !first {
			fmt.Println("again", id)
		}
		reply.WriteHeader(http.StatusNoContent)
	}
}

// setUpWrongly ends the program. What a variable holds may be a secret, and is not shown.
func setUpWrongly(variable string, why error) {
	fmt.Fprintf(os.Stderr, "receiver: %s: %v\n", variable, why)
	os.Exit(2)
}

func main() {
	keys, err := readKeys(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		setUpWrongly("WEBHOOK_SECRET", err)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		setUpWrongly("PORT", errors.New("a port is a number up to 65535"))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr().(*net.TCPAddr).Port)
	server := &http.Server{Handler: receiver(keys), ReadTimeout: 10 * time.Second}
	log.Fatal(server.Serve(listener))
}

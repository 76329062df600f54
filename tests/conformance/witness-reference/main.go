// The reference for the witness. "log" prints requests with signed notes and proofs of a growing log. "open" verifies a
// cosignature.
package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		found[i] = h[index]
	}
	return found, nil
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	switch os.Args[1] {
	case "log":
		makeLog(os.Args[2], os.Args[3])
	case "open":
		text, err := os.ReadFile(os.Args[3])
		check(err)
		verifier, err := torchwood.NewCosignatureVerifier(os.Args[2])
		check(err)
		opened, err := note.Open(text, note.VerifierList(verifier))
		check(err)
		checkpoint, err := torchwood.ParseCheckpoint(opened.Text)
		check(err)
		fmt.Println(checkpoint.Origin, checkpoint.N)
	}
}

// makeLog prints the bodies of add-checkpoint requests for growth from 0 to 5, to 13, and to 64 entries.
func makeLog(origin string, key string) {
	signer, err := note.NewSigner(key)
	check(err)
	var stored hashes
	for n := int64(0); n < 64; n++ {
		added, err := tlog.StoredHashes(n, []byte(fmt.Sprintf("entry %d", n)), stored)
		check(err)
		stored = append(stored, added...)
	}
	var bodies []string
	for _, step := range [][2]int64{{0, 5}, {5, 13}, {13, 64}} {
		root, err := tlog.TreeHash(step[1], stored)
		check(err)
		body := fmt.Sprintf("old %d\n", step[0])
		if step[0] > 0 {
			proof, err := tlog.ProveTree(step[1], step[0], stored)
			check(err)
			for _, hash := range proof {
				body += base64.StdEncoding.EncodeToString(hash[:]) + "\n"
			}
		}
		text := torchwood.Checkpoint{Origin: origin, Tree: tlog.Tree{N: step[1], Hash: root}}.String()
		signed, err := note.Sign(&note.Note{Text: text}, signer)
		check(err)
		bodies = append(bodies, body+"\n"+string(signed))
	}
	check(json.NewEncoder(os.Stdout).Encode(bodies))
}

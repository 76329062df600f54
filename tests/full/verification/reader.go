// Verifies a copy of an audit service's tree (signed root, tiles and entries) with golang.org/x/mod, the implementation
// of Go's checksum database. It verifies a proof for each entry and for each earlier tree, and prints the tree's size.
package main

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

const height = 8

func read(path string) []byte {
	content, err := os.ReadFile(filepath.Join(os.Args[1], path))
	check(err)
	return content
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// pathOf returns the path of a tile in the format of C2SP tlog-tiles, whose paths do not contain the tile height.
func pathOf(tile tlog.Tile) string {
	return "tile/" + strings.TrimPrefix(tile.Path(), fmt.Sprintf("tile/%d/", height))
}

type tiles struct{}

func (tiles) Height() int { return height }

func (tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	found := make([][]byte, len(wanted))
	for at, tile := range wanted {
		found[at] = read(pathOf(tile))
	}
	return found, nil
}

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func entries(size int64) [][]byte {
	bundle := read(strings.Replace(pathOf(tlog.Tile{H: height, L: 0, N: 0, W: int(size)}), "tile/0/", "tile/entries/", 1))
	found := [][]byte{}
	for len(bundle) > 0 {
		length := int(binary.BigEndian.Uint16(bundle))
		found = append(found, bundle[2:2+length])
		bundle = bundle[2+length:]
	}
	return found
}

func main() {
	verifier, err := note.NewVerifier(os.Args[2])
	check(err)
	opened, err := note.Open(read("checkpoint"), note.VerifierList(verifier))
	check(err)
	lines := strings.Split(opened.Text, "\n")
	size, err := strconv.ParseInt(lines[1], 10, 64)
	check(err)
	root, err := tlog.ParseHash(lines[2])
	check(err)
	hashes := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, tiles{})
	for index, entry := range entries(size) {
		proof, err := tlog.ProveRecord(size, int64(index), hashes)
		check(err)
		check(tlog.CheckRecord(proof, size, root, int64(index), tlog.RecordHash(entry)))
	}
	for earlier := int64(1); earlier <= size; earlier++ {
		before, err := tlog.TreeHash(earlier, hashes)
		check(err)
		proof, err := tlog.ProveTree(size, earlier, hashes)
		check(err)
		check(tlog.CheckTree(proof, size, root, earlier, before))
	}
	fmt.Println(size)
}

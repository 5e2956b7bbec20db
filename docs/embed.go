// Package docs holds the pages that a client can read from the program itself.
//
// It is data. How decisions were made is for who changes the program, and is not in it.
package docs

import "embed"

// Pages are the pages, as Markdown, by their paths here.
//
//go:embed tutorial.md explain/*.md howto/*.md reference/*.md
var Pages embed.FS

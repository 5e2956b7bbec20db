// Package conformance holds what the public conformance suite of MCP needs of a server
// and of a client: tools, prompts and resources with the names that it asks for, on our
// own servers and our own HTTP endpoint, and a client on our own way out.
//
// It is part of the MCP adapter and only tests: nothing of it is in the program. Its
// test binary is the server and the client when scenarios/clients/conformance.sh says
// so. What the names must do is written in the suite; nothing here is of use otherwise.
package conformance

package mcp

// Message is what a person reads of a question.
var Message = message

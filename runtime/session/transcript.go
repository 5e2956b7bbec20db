package session

import (
	"fmt"
	"strings"
	"time"

	"github.com/soundstage-dev/soundstage/runtime/trace"
)

// A Line is one line of a transcript.
type Line struct {
	Seq  int64     `json:"seq"`
	At   time.Time `json:"at"`
	Turn int       `json:"turn"`
	Who  string    `json:"who"` // session, person, model, tool, gate, receipt
	Text string    `json:"text"`
}

// Transcript tells a person what happened. It shows what the person was shown: text
// beside a tool call is not in it.
func Transcript(events []trace.Event) ([]Line, error) {
	var lines []Line
	for _, e := range events {
		p, err := decode(e)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		if who, text := describe(p); text != "" {
			lines = append(lines, Line{Seq: e.Seq, At: e.At, Turn: e.Turn, Who: who, Text: text})
		}
	}
	return lines, nil
}

// describe is who did what, or "" for what a person need not see.
func describe(p trace.Payload) (who, text string) {
	switch p := p.(type) {
	case trace.SessionOpened:
		return "session", strings.TrimSpace(fmt.Sprintf("%s, %s, %s gate, %s", p.Skin, p.Mode, p.Gate, or(p.Model, "no model")))
	case trace.TurnOpened:
		return "person", p.Input
	case trace.Steered:
		if p.After {
			return "person", "(for later) " + p.Text
		}
		return "person", p.Text
	case trace.ModelRetried:
		return "model", fmt.Sprintf("failed with %s, tried again after %s", p.Code, time.Duration(p.WaitMS)*time.Millisecond)
	case trace.ModelReplied:
		if p.Code != "" {
			return "model", fmt.Sprintf("broke off with %s: %s", p.Code, oneLine(p.Error, 200))
		}
	case trace.ToolCalled:
		return "tool", fmt.Sprintf("%s %s", p.Tool, oneLine(p.Input, 200))
	case trace.ToolFinished:
		return "tool", finished(p)
	case trace.GateAsked:
		return "gate", p.Title
	case trace.GateAnswered:
		return "gate", answered(p)
	case trace.GatePassed:
		return "gate", passed(p)
	case trace.DraftSettled:
		return "receipt", p.Receipt.String()
	case trace.SeamMissed:
		return "session", p.Message
	case trace.TurnClosed:
		return closed(p)
	}
	return "", ""
}

func finished(p trace.ToolFinished) string {
	switch {
	case p.NotRun:
		return fmt.Sprintf("%s was not run: %s", p.Tool, oneLine(p.Text, 200))
	case !p.OK:
		return fmt.Sprintf("%s failed with %s: %s", p.Tool, p.Code, oneLine(p.Text, 200))
	}
	return fmt.Sprintf("%s gave %s", p.Tool, oneLine(p.Text, 200))
}

// answered never says that a person chose when none did.
func answered(p trace.GateAnswered) string {
	line := p.Choice + ", by " + p.By
	if p.Note != "" {
		line += ": " + oneLine(p.Note, 200)
	}
	return line
}

func passed(p trace.GatePassed) string {
	if p.Remembered {
		return fmt.Sprintf("%s runs unasked, by %s: a person said yes for this session", p.Tool, p.By)
	}
	return fmt.Sprintf("%s runs unasked, by %s: the gate is on %s", p.Tool, p.By, p.Mode)
}

func closed(p trace.TurnClosed) (who, text string) {
	text = p.Text
	if p.Stop != "" {
		text = strings.TrimSpace(fmt.Sprintf("%s\n(%s, %s: %s)", text, p.Label, p.Stop, p.Guidance))
	}
	return "model", or(text, "("+p.Label+")")
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

package trace

import (
	"encoding/json"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// CodeUnknown says that an event's type is not in this program's table.
const CodeUnknown fault.Code = "TRACE_UNKNOWN_TYPE"

// decoders is every payload by its type.
var decoders = map[string]func(data []byte) (Payload, error){
	SessionOpened{}.EventType():  into[SessionOpened],
	TurnOpened{}.EventType():     into[TurnOpened],
	Steered{}.EventType():        into[Steered],
	ModelRequested{}.EventType(): into[ModelRequested],
	CostSettled{}.EventType():    into[CostSettled],
	ModelRetried{}.EventType():   into[ModelRetried],
	ModelReplied{}.EventType():   into[ModelReplied],
	ToolCalled{}.EventType():     into[ToolCalled],
	GateAsked{}.EventType():      into[GateAsked],
	GateAnswered{}.EventType():   into[GateAnswered],
	GatePassed{}.EventType():     into[GatePassed],
	ToolFinished{}.EventType():   into[ToolFinished],
	DraftSettled{}.EventType():   into[DraftSettled],
	SeamMissed{}.EventType():     into[SeamMissed],
	TurnClosed{}.EventType():     into[TurnClosed],
}

func into[P Payload](data []byte) (Payload, error) {
	var p P
	err := json.Unmarshal(data, &p)
	return p, err
}

// Decode gives the payload of e, as a value: trace.TurnOpened, not a pointer. A type
// that is not known is CodeUnknown, which a projection may skip.
func Decode(e Event) (Payload, error) {
	decode, ok := decoders[e.Type]
	if !ok {
		return nil, fault.New(CodeUnknown, "trace.decode", "event %d has the unknown type %q", e.Seq, e.Type)
	}
	p, err := decode(e.Data)
	if err != nil {
		return nil, fault.Wrap(err, CodeDamaged, "trace.decode", "event %d, %q", e.Seq, e.Type)
	}
	return p, nil
}

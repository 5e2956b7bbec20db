package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
	"github.com/soundstage-dev/soundstage/runtime/gate"
	"github.com/soundstage-dev/soundstage/runtime/plain"
	"github.com/soundstage-dev/soundstage/runtime/store"
	"github.com/soundstage-dev/soundstage/runtime/tool"
)

// TransferIn names a piece and where it should go.
type TransferIn struct {
	Kind     string `json:"kind" jsonschema:"the kind of the piece, such as character"`
	ID       string `json:"id" jsonschema:"the id of the piece, as studio.list shows it"`
	Format   string `json:"format,omitempty" jsonschema:"the format to write, such as sillytavern-world or json-v2; an error lists those of the kind; leave out for the one that the piece came from"`
	Revision int64  `json:"revision,omitempty" jsonschema:"an older revision; leave out for the current one"`
}

// TransferOut is what a crossing costs.
type TransferOut struct {
	Kind     string   `json:"kind"`
	ID       string   `json:"id"`
	Revision int64    `json:"revision"`
	Format   string   `json:"format"`
	Name     string   `json:"name"` // of the file that an export would write
	Bytes    int      `json:"bytes"`
	Exact    bool     `json:"exact"` // the file that the piece came from, byte for byte
	Losses   []Loss   `json:"losses"`
	Stripped []string `json:"stripped,omitempty"` // pointers of credentials that are left out
	Warnings []string `json:"warnings,omitempty"`
}

// Told is a crossing as data.
func (c Crossing) Told() TransferOut {
	return TransferOut{
		Kind: c.Piece.Kind, ID: c.Piece.ID, Revision: c.Piece.Revision, Format: c.File.Format, Name: c.File.Name, Bytes: len(c.File.Data),
		Exact: c.File.Exact, Losses: append([]Loss{}, c.File.Losses...), Stripped: c.File.Stripped, Warnings: c.Warnings,
	}
}

func transferTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.transfer", Title: "Preview a transfer", Effect: tool.Read, Exposure: tool.Deferred,
		Domain: "transfer", Area: "transfer", Action: "preview",
		Summary: "Say what a piece would lose in the file format of another platform, before anything is written.",
		Description: "Each loss has the path of the value, a verdict (dropped, approximated, renamed, embedded) and the reason. Credentials are listed by " +
			"their place and never shown. studio.export writes the same file.",
		Aliases: []string{
			"convert", "compatible", "compatibility", "what is lost", "losses", "would it work in", "move to", "carry over", "migrate", "platform", "preview an export",
			"dry run", "SillyTavern", "Risu", "RisuAI", "Agnai", "Agnaistic", "Marinara", "RoleCall", "NovelAI", "character card", "charx",
		},
	}, func(ctx context.Context, _ tool.Call, in TransferIn) (tool.Reply[TransferOut], error) {
		c, err := d.Cross(ctx, "studio.transfer", store.Ref{Kind: in.Kind, ID: in.ID}, in.Revision, in.Format)
		if err != nil {
			return tool.Reply[TransferOut]{}, err
		}
		return tool.Reply[TransferOut]{Out: c.Told()}, nil
	})
}

// ExportIn names a piece and a format. Where the file goes is not for a model to say.
type ExportIn struct {
	Kind     string `json:"kind" jsonschema:"the kind of the piece, such as character"`
	ID       string `json:"id" jsonschema:"the id of the piece, as studio.list shows it"`
	Format   string `json:"format,omitempty" jsonschema:"the format to write, such as sillytavern-world or json-v2; an error lists those of the kind; leave out for the one that the piece came from"`
	Revision int64  `json:"revision,omitempty" jsonschema:"export only if the piece is still at this revision; leave out for whatever is there"`
}

// ExportOut is the receipt of an export.
type ExportOut struct {
	TransferOut
	File string `json:"file"` // from the studio's folder on
}

func exportTool(d Deps) tool.Tool {
	return tool.New(tool.Spec{
		ID: "studio.export", Title: "Export a piece", Effect: tool.Apply, Exposure: tool.Direct, Concurrency: "piece:{kind}/{id}",
		Summary: "Write one stored piece as a new file in the studio's Export folder.",
		Description: "The file's name and place are chosen here; none is ever replaced, and no credential is in it. The result lists what the format cannot hold: " +
			"tell the person. It exports what is stored; apply a draft first.",
	}, func(ctx context.Context, call tool.Call, in ExportIn) (tool.Reply[ExportOut], error) {
		c, err := d.exported(ctx, in)
		if err != nil {
			return tool.Reply[ExportOut]{}, err
		}
		out := ExportOut{TransferOut: c.Told()}
		if out.File, err = d.Exports.Save(ctx, call.Session, c.File.Name, c.File.Data); err != nil {
			return tool.Reply[ExportOut]{}, err
		}
		out.Name = out.File[strings.LastIndexByte(out.File, '/')+1:]
		return tool.Reply[ExportOut]{Out: out}, nil
	})
}

func (d Deps) exported(ctx context.Context, in ExportIn) (Crossing, error) {
	const op = "studio.export"
	c, err := d.Cross(ctx, op, store.Ref{Kind: in.Kind, ID: in.ID}, 0, in.Format)
	if err == nil && in.Revision != 0 && in.Revision != c.Piece.Revision {
		err = fault.New(fault.Stale, op, "%s is at revision %d, not %d; nothing was exported", c.Piece.Ref, c.Piece.Revision, in.Revision).
			WithHint("read the piece again, and export what is there")
	}
	return c, err
}

// export is the card of an export: what it costs, before the person decides.
func (c *Cards) export(ctx context.Context, input []byte) (gate.Card, error) {
	var in ExportIn
	if err := json.Unmarshal(input, &in); err != nil {
		return gate.Card{}, fault.Wrap(err, fault.Invalid, "studio.export", "input does not fit")
	}
	x, err := c.d.exported(ctx, in)
	if err != nil {
		return gate.Card{}, err
	}
	title := fmt.Sprintf("Export %s (%q, revision %d) as %s, %d bytes, into the studio's Export folder? %s",
		x.Piece.Ref, plain.Clip(x.Piece.Title, 80), x.Piece.Revision, x.File.Format, len(x.File.Data), x.said())
	if len(x.Warnings) > 0 {
		title += " " + clipped(x.Warnings) + "."
	}
	return gate.Card{Title: title}, nil
}

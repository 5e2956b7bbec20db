package cli

import (
	"reflect"

	"github.com/soundstage-dev/soundstage/runtime/studio/story"
	"github.com/soundstage-dev/soundstage/runtime/studio/story/flow"
)

// results is what each command prints with --json: one object on standard output.
// docs/reference/cli holds a JSON Schema of each, written from these types. Fields are
// only ever added. An error is a [complaint] instead, or is on standard error where
// the result itself tells of it.
func results() map[string]reflect.Type {
	return map[string]reflect.Type{
		"init":              reflect.TypeFor[initResult](),
		"demo":              reflect.TypeFor[scenarioResult](),
		"run":               reflect.TypeFor[runResult](),
		"record":            reflect.TypeFor[recordResult](),
		"test":              reflect.TypeFor[scenarioResult](),
		"drift":             reflect.TypeFor[driftResult](),
		"mcp":               reflect.TypeFor[mcpEvent](),
		"mcp install":       reflect.TypeFor[installResult](),
		"mcp uninstall":     reflect.TypeFor[installResult](),
		"mcp doctor":        reflect.TypeFor[mcpDoctor](),
		"mcp call":          reflect.TypeFor[mcpCalled](),
		"proxy":             reflect.TypeFor[proxyEvent](),
		"upstream":          reflect.TypeFor[upstreamEvent](),
		"ask ls":            reflect.TypeFor[askList](),
		"ask show":          reflect.TypeFor[askShow](),
		"ask allow":         reflect.TypeFor[askShow](),
		"ask deny":          reflect.TypeFor[askShow](),
		"import":            reflect.TypeFor[importResult](),
		"export":            reflect.TypeFor[exportResult](),
		"piece ls":          reflect.TypeFor[pieceList](),
		"piece show":        reflect.TypeFor[pieceShow](),
		"piece history":     reflect.TypeFor[pieceHistory](),
		"piece restore":     reflect.TypeFor[pieceRestored](),
		"piece diff":        reflect.TypeFor[pieceDiff](),
		"piece fork":        reflect.TypeFor[pieceForked](),
		"piece merge":       reflect.TypeFor[pieceMerged](),
<<<<<<< HEAD
		"folder share":      reflect.TypeFor[folderChanged](),
		"folder unshare":    reflect.TypeFor[folderChanged](),
		"folder ls":         reflect.TypeFor[folderList](),
		"collection new":    reflect.TypeFor[collectionRow](),
		"collection add":    reflect.TypeFor[collectionRow](),
		"collection rm":     reflect.TypeFor[collectionRow](),
		"collection ls":     reflect.TypeFor[collectionList](),
=======
		"story graph":       reflect.TypeFor[storyGraph](),
>>>>>>> story
		"story test":        reflect.TypeFor[flow.Report](),
		"tool ls":           reflect.TypeFor[toolList](),
		"tool show":         reflect.TypeFor[toolShow](),
		"tool call":         reflect.TypeFor[toolCalled](),
		"server add":        reflect.TypeFor[serverChanged](),
		"server ls":         reflect.TypeFor[serverList](),
		"server show":       reflect.TypeFor[serverRow](),
		"server enable":     reflect.TypeFor[serverChanged](),
		"server disable":    reflect.TypeFor[serverChanged](),
		"server rm":         reflect.TypeFor[serverChanged](),
		"server test":       reflect.TypeFor[serverTested](),
		"server login":      reflect.TypeFor[serverSignedIn](),
		"server logout":     reflect.TypeFor[serverChanged](),
		"cassette ls":       reflect.TypeFor[cassetteList](),
		"cassette show":     reflect.TypeFor[cassetteShow](),
		"cassette lint":     reflect.TypeFor[cassetteLinted](),
		"cassette prune":    reflect.TypeFor[cassetteEdits](),
		"cassette verify":   reflect.TypeFor[cassetteVerified](),
		"cassette import":   reflect.TypeFor[cassetteImported](),
		"ledger":            reflect.TypeFor[ledgerResult](),
		"trace to-scenario": reflect.TypeFor[scenarioMade](),
		"story new":         reflect.TypeFor[storyMade](),
		"story validate":    reflect.TypeFor[story.Validation](),
		"story turn":        reflect.TypeFor[story.TurnOut](),
		"story explain":     reflect.TypeFor[story.Explained](),
		"story open":        reflect.TypeFor[storyBound](),
		"story close":       reflect.TypeFor[storyBound](),
		"trace show":        reflect.TypeFor[traceShow](),
		"doctor":            reflect.TypeFor[doctorResult](),
		"version":           reflect.TypeFor[versionResult](),
		"cassette migrate":  reflect.TypeFor[cassetteEdits](),
		"cassette rekey":    reflect.TypeFor[cassetteEdits](),
		"cassette redact":   reflect.TypeFor[cassetteEdits](),
		"cassette dedupe":   reflect.TypeFor[cassetteEdits](),
		"cassette diff":     reflect.TypeFor[cassetteDiff](),
		"cassette stats":    reflect.TypeFor[cassetteStats](),
		"cassette textconv": reflect.TypeFor[textconvResult](),
		"cassette merge":    reflect.TypeFor[cassetteMerged](),
		"cassette review":   reflect.TypeFor[cassetteReview](),
	}
}

package cli

import (
	"strings"

	"github.com/soundstage-dev/soundstage/harness/fault"
)

// The exit statuses. They are stable: scripts act on them.
const (
	exitOK        = 0
	exitInternal  = 1
	exitInvalid   = 2
	exitNotFound  = 3
	exitConflict  = 4
	exitDenied    = 5
	exitSeam      = 6
	exitBudget    = 7
	exitModel     = 8
	exitStopped   = 9
	exitCancelled = 130
)

// exitHelp is the part of every help text that lists the statuses.
const exitHelp = `Exit status:
  0    done
  1    a scenario or a check failed, a bug of ours or a broken disk
  2    the command line or the input is wrong
  3    the named thing does not exist
  4    it changed meanwhile, the id is taken, or another run has it
  5    a person, a policy or the trust table said no, or nobody was there
  6    the cassette has no answer, is missing or is damaged
  7    a budget is used up, or a model has no price under a cap
  8    the model's provider failed, or its key is not set
  9    the agent loop stopped the turn
  130  cancelled
`

// byCode is the one place that maps codes to statuses; the longest matching
// prefix wins.
var byCode = map[string]int{
	string(fault.Internal): exitInternal,
	"CHAOS_":               exitInternal,
	"DOCTOR_":              exitInternal,
	"PROCESS_":             exitInternal,
	"SCENARIO_":            exitInternal,
	"SEAMTEST_":            exitInternal,
	"STORE_":               exitInternal,
	"TRACE_":               exitInternal,

	"AUTHOR_":            exitInvalid,
	"AUTHOR_EXISTS":      exitConflict,
	"BAD_":               exitInvalid,
	"BOUNDARY_":          exitInvalid,
	"CANON_":             exitInvalid,
	"CARD_":              exitInvalid,
	"CARRIER_":           exitInvalid,
	"RISU_":              exitInvalid,
	"CHARACTER_":         exitInvalid,
	"CONTENT_":           exitInvalid,
	"LOREBOOK_":          exitInvalid,
	"PRESET_":            exitInvalid,
	"CLIENTFILE_":        exitInvalid,
	"CONFIG_":            exitInvalid,
	"EXPORT_":            exitInvalid,
	"GIT_":               exitInvalid,
	"IMPORT_":            exitInvalid,
	"INVALID_":           exitInvalid,
	"JSON_":              exitInvalid,
	"MCP_":               exitInvalid,
	"OFFSET_":            exitInvalid,
	"PIECE_":             exitInvalid,
	"PROMPT_":            exitInvalid,
	"PROXY_":             exitInvalid,
	"RESOURCE_":          exitInvalid,
	"SERVER_":            exitInvalid,
	"SERVER_BARRED":      exitDenied,
	"SERVER_TAKEN":       exitConflict,
	"SERVER_UNKNOWN":     exitNotFound,
	"SESSION_":           exitInvalid,
	"TOO_LARGE":          exitInvalid,
	"STORE_NEWER":        exitInvalid,
	"STORE_ADDRESS":      exitInvalid,
	"TRACE_NEWER":        exitInvalid,
	"CAPABILITY_":        exitNotFound,
	"NOT_FOUND":          exitNotFound,
	"QUESTION_NONE":      exitNotFound,
	"RESULT_":            exitNotFound,
	"SESSION_NONE":       exitNotFound,
	"STORE_MISSING":      exitNotFound,
	"STUDIO_":            exitNotFound,
	"TRACE_MISSING":      exitNotFound,
	"UNKNOWN_":           exitNotFound,
	"CASSETTE_CLASH":     exitConflict,
	"STORY_":             exitInvalid,
	"STORY_NO_FILE":      exitNotFound,
	"STORY_NO_DIR":       exitNotFound,
	"STORY_NO_NAME":      exitNotFound,
	"STORYDIR_":          exitInvalid,
	"STORYDIR_OUTSIDE":   exitDenied,
	"STORYDIR_READ_ONLY": exitDenied,
	"NO_WORKSPACE":       exitNotFound,
	"STORY_NO_STATE":     exitNotFound,
	"VALUE_":             exitInvalid,
	"STORY_TESTS_FAILED": exitInternal,

	"DRAWER_":         exitInvalid,
	"DRAWER_FULL":     exitConflict,
	"DRAWER_NO_ENTRY": exitNotFound,
	"MERGE_":          exitInvalid,
	"RESTORE_":        exitDenied,

	"ART_NONE":          exitNotFound,
	"CHOICE_":           exitInvalid,
	"COLLECTION_NONE":   exitNotFound,
	"COLLECTION_FULL":   exitConflict,
	"FOLDER_":           exitInvalid,
	"FOLDER_ESCAPES":    exitDenied,
	"FOLDER_MOVED":      exitDenied,
	"FOLDER_NOT_SHARED": exitNotFound,
	"FOLDER_NO_FILE":    exitNotFound,
	"FOLDER_PROTECTED":  exitDenied,
	"FOLDER_TAKEN":      exitConflict,
	"FOLDER_UNKNOWN":    exitNotFound,
	"FOLDER_UNREADABLE": exitDenied,
	"GRAVEYARD_":        exitNotFound,
	"EXPORT_FAILED":     exitInternal,
	"EXPORT_SECRET":     exitDenied,
	"IMPORT_DUPLICATE":  exitConflict,
	"IMPORT_TAKEN":      exitConflict,
	"PIECE_LINT":        exitInternal,
	"PRESET_BLOCK":      exitNotFound,
	"RAIL_":             exitInvalid,

	"CLIENTFILE_CHANGED": exitConflict,
	"CLIENTFILE_TAKEN":   exitConflict,

	"CONFLICT":      exitConflict,
	"DRAFT_":        exitConflict,
	"ESCROW_":       exitConflict,
	"SESSION_BUSY":  exitConflict,
	"STALE":         exitConflict,
	"QUESTION_":     exitConflict,
	"DENIED":        exitDenied,
	"GATE_":         exitDenied,
	"TRUST_":        exitDenied,
	"CASSETTE_":     exitSeam,
	"SEAM_":         exitSeam,
	"UPSTREAM_":     exitSeam,
	"BUDGET_":       exitBudget,
	"MODEL_":        exitModel,
	"MODEL_UNKNOWN": exitNotFound,
	"STOP_":         exitStopped,
	"TIMEOUT":       exitStopped,

	"CASSETTE_DIFFERS":     exitInternal,
	"CASSETTE_LINT":        exitInternal,
	"CASSETTE_NOT_WRITTEN": exitInternal,
	"SCENARIO_UNANSWERED":  exitModel,

	"STOP_CANCELLED":        exitCancelled,
	string(fault.Cancelled): exitCancelled,
}

// status maps an error to the process's exit status.
func status(err error) int {
	if err == nil {
		return exitOK
	}
	code, best, exit := string(fault.CodeOf(err)), -1, exitInternal
	for prefix, s := range byCode {
		if strings.HasPrefix(code, prefix) && len(prefix) > best {
			best, exit = len(prefix), s
		}
	}
	return exit
}

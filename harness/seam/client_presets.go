package seam

// clientPresets are what recordings of agents that others made need beside the
// defaults. A rule is there because two runs that are the same were seen to differ in
// just this, and each is as narrow as that. What a person wrote, what a tool is, and
// what a tool answered is never left out.
var clientPresets = []Preset{
	{
		Name: "claude-code/1",
		Doc:  "Claude Code, over Anthropic Messages",
		Rules: []Rule{
			{
				Do: Drop, Why: "it marks where the prompt cache ends, and moves to the newest block with each request",
				At: []string{"/system/*/cache_control", "/tools/*/cache_control", "/messages/*/content/*/cache_control", "/messages/*/content/*/content/*/cache_control"},
			},
			{
				Do: Unwrap, Why: "the same message is a list of one text in one request and that text in the next",
				At: []string{"/messages/*/content", "/messages/*/content/*/content"},
			},
			{
				Do: Mask, Why: "the day on which it runs, in full and with --bare", Find: `(?m)(Today's date is |^Date: )\d{4}-\d{2}-\d{2}`, Put: `$1$$DATE`,
				At: claudeText,
			},
			{
				Do: Mask, Why: "the folder in which it runs, in full and with --bare", Find: `(?m)((?:Primary w|W)orking directory: |^CWD: ).*$`, Put: `$1$$DIR`,
				At: claudeText,
			},
			{
				Do: Mask, Why: "the folder of its memory: the home folder, and the work folder spelled as one name",
				Find: `[^\s"'` + "`" + `]*/\.claude/projects/[^/\s"'` + "`" + `]+`, Put: `$$MEMORY`,
				At: claudeText,
			},
		},
	},
	{
		Name: "codex/1",
		Doc:  "Codex, over OpenAI Responses",
		Rules: []Rule{
			{
				Do: Mask, Why: "how long a tool took, which stands in its result", Find: `Wall time: [0-9.]+ seconds`, Put: `Wall time: $$N seconds`,
				At: []string{"/input/*/output", "/input/*/output/*/text"},
			},
			{
				Do: Mask, Why: "the day on which it runs", Find: `<current_date>[^<]*</current_date>`, Put: `<current_date>$$DATE</current_date>`,
				At: codexText,
			},
			{
				Do: Mask, Why: "the time zone of the machine", Find: `<timezone>[^<]*</timezone>`, Put: `<timezone>$$ZONE</timezone>`,
				At: codexText,
			},
			{
				Do: Mask, Why: "the folder in which it runs", Find: `<(cwd|root)>[^<]*<`, Put: `<$1>$$DIR<`,
				At: codexText,
			},
			{
				Do: Mask, Why: "the home folder, where its skills lie", Find: "`[^`\\s]*/\\.codex/", Put: "`$$$$CODEX/",
				At: codexText,
			},
		},
	},
	{
		Name: "opencode/1",
		Doc:  "OpenCode, over Chat Completions, Responses or Messages",
		Rules: []Rule{
			{
				Do: Mask, Why: "the day on which it runs", Find: `(Today's date: )[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{4}`, Put: `$1$$DATE`,
				At: openText,
			},
			{
				Do: Mask, Why: "the folder in which it runs", Find: `(?m)((?:Working directory|Workspace root folder): ).*$`, Put: `$1$$DIR`,
				At: openText,
			},
		},
	},
	{
		Name: "cline/1",
		Doc:  "Cline, over Chat Completions",
		Rules: []Rule{
			{
				Do: Mask, Why: "the folder in which it runs", Find: `(?m)(Working Directory: ).*$`, Put: `$1$$DIR`,
				At: openText,
			},
		},
	},
	{
		Name: "gemini-cli/1",
		Doc:  "Gemini CLI, over generateContent",
		Rules: []Rule{
			{
				Do: Mask, Why: "the day on which it runs", Find: `(Today's date is )[A-Z][a-z]+, [A-Z][a-z]+ \d{1,2}, \d{4}`, Put: `$1$$DATE`,
				At: geminiText,
			},
			{
				Do: Mask, Why: "its temporary folder: the home folder, and the work folder's own name", Find: "[^\\s`\"']*/\\.gemini/tmp/[^/\\s`\"']+", Put: `$$TMP`,
				At: geminiText,
			},
		},
	},
}

// Where the clients' own texts stand.
var (
	claudeText = []string{"/system/*/text", "/messages/*/content", "/messages/*/content/*/text"}
	codexText  = []string{"/instructions", "/input/*/content", "/input/*/content/*/text"}
	openText   = []string{"/instructions", "/system/*/text", "/messages/*/content", "/messages/*/content/*/text", "/input/*/content", "/input/*/content/*/text"}
	geminiText = []string{"/systemInstruction/parts/*/text", "/contents/*/parts/*/text"}
)

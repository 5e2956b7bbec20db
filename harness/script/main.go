package script

import "os"

// asProgram tells the test binary that it was started by exec $SOUNDSTAGE.
const asProgram = "SOUNDSTAGE_TEST_AS_PROGRAM"

// workFolder is the variable by which testscript knows where scenarios are laid out.
const workFolder = "GOTMPDIR"

// Main is what TestMain returns to os.Exit. In a process that a scenario started by
// exec $SOUNDSTAGE it runs the program, else the tests:
//
//	func TestMain(m *testing.M) { os.Exit(script.Main(m, program)) }
//
// Scenarios are laid out in memory where the system has such a file system: the
// program syncs what it writes, and that is most of their time on a disk.
//
// testscript.Main would copy the whole test binary into a folder at each start, and
// would take the program's word away from the in-process runner.
func Main(m interface{ Run() int }, program func() int) int {
	if os.Getenv(asProgram) == "" {
		if dir := memory(); dir != "" && os.Getenv(workFolder) == "" {
			if err := os.Setenv(workFolder, dir); err != nil {
				return 1
			}
		}
		return m.Run()
	}
	if err := os.Unsetenv(asProgram); err != nil { // not for the program's children
		return 1
	}
	return program()
}

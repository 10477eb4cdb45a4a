import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// `Scripts/demo.sh`, with the programs under test and a `swift` that only prints the steps of a build.
final class DemoScriptTests: XCTestCase {
    /// Runs lines in a temporary directory, where `./the demo` is the script and `products` lists what was built.
    private func shell(_ lines: String) throws -> Shell.Outcome {
        return try Shell.run(
            #"""
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            export here=$PWD built=$(dirname "$(command -v notify-demo)")
            mkdir bin; cat >bin/swift <<'TEXT'
            #!/bin/sh
            case "$*" in
                *--version*) echo "Swift version 6.3" ;;
                *--show-bin-path*) echo "$built" ;;
                *)
                    echo "Building for debugging..."; echo "[0/9] Write sources"; echo "[1/9] Compiling Main main.swift"
                    while [ $# -gt 1 ]; do [ "$1" = --product ] && echo "$2" >>"$here/products"; shift; done
                    if [ -e "$here/broken" ]; then echo "main.swift:1:1: error: it is broken"; exit 1; fi
                    echo "Build of product complete!"
                    ;;
            esac
            TEXT
            chmod +x bin/swift; PATH=$PWD/bin:$PATH; ln -s '\#(Repository.root.path)/Scripts/demo.sh' 'the demo'
            \#(lines)
            """#)
    }

    func testRecordBuildsTheLibraryAndTheExampleAndItsNextCommandCanBePasted() throws {
        let outcome = try shell(
            """
            './the demo' record -o 'my file.jsonl' -- kitchen 2>said; cat products
            './the demo' diagnose 'my file.jsonl' >found; rm products
            eval "$(sed -n 's/^Next: //p' said)" | cmp - found && cat products
            eval "$(sed -n 's/^Next: //p' found)" | head -n 1
            """)
        XCTAssertEqual(
            outcome.output.split(separator: "\n").prefix(5),
            [
                "served 6 dishes, and the bell did not ring", "notify-demo", "notification-recorder", "kitchen",
                "notify-demo",
            ], outcome.errors)
        XCTAssertTrue(outcome.output.hasSuffix(": my file.jsonl\n"), "\(outcome)")
    }

    func testTheStepsOfABuildAreShownAndItsErrorsEndTheScript() throws {
        let outcome = try shell("'./the demo' list >/dev/null && touch broken; './the demo' list; echo $?")
        XCTAssertEqual(outcome.output, "1\n")
        XCTAssertEqual(
            outcome.errors,
            """
            [1/9] Compiling Main main.swift
            [1/9] Compiling Main main.swift
            main.swift:1:1: error: it is broken

            """)
    }
}

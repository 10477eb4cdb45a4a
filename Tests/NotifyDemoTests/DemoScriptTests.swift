import SharedTesting
import XCTest

/// `Scripts/demo.sh`, with the programs under test and a `swift` that only prints the steps of a build.
final class DemoScriptTests: XCTestCase {
    func testTheScriptBuildsWhatIsNeededShowsTheStepsItsNextCommandsCanBePastedAndAnErrorOfTheBuildEndsIt() throws {
        let outcome = try Shell.inDirectory(
            #"""
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
            './the demo' record -o 'my file.jsonl' -- kitchen 2>said; cat products; rm products
            './the demo' diagnose 'my file.jsonl' >found 2>/dev/null
            eval "$(sed -n 's/^Next: //p' said)" 2>/dev/null | cmp - found
            eval "$(sed -n 's/^Next: //p' found)" 2>/dev/null | head -n 1
            touch broken; './the demo' list; echo $?
            """#)
        XCTAssertEqual(
            outcome.output.split(separator: "\n").map { $0.hasSuffix(": my file.jsonl") ? "drawn" : $0 },
            [
                "served 6 dishes, and the bell did not ring", "notify-demo", "notification-recorder", "kitchen",
                "drawn",
                "1",
            ], outcome.errors)
        XCTAssertEqual(outcome.errors, "[1/9] Compiling Main main.swift\nmain.swift:1:1: error: it is broken\n")
    }
}

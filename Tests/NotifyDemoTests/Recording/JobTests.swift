import SharedTesting
import XCTest

/// What a job of GitHub Actions shows, tried with its variables set by hand.
final class JobTests: XCTestCase {
    /// Runs shell lines in a directory of their own, which is the workspace of a job, with the recording of the
    /// kitchen.
    private func job(_ lines: String, input: String = "") throws -> Shell.Outcome {
        try Shell.inDirectory(
            """
            cp '\(Repository.root.path)/Sources/DeliveryRecording/DeliveryRecording.docc/kitchen.jsonl' notifications.jsonl
            export GITHUB_ACTIONS=true GITHUB_WORKSPACE=$PWD GITHUB_STEP_SUMMARY=$PWD/summary; touch summary
            \(lines)
            """, input: input)
    }

    func testEachFindingOfARuleThatFailsIsAnErrorAtItsFileIfThatIsInTheWorkspace() throws {
        let outcome = try job(
            """
            c() { notify-demo check --rule "$@" > /dev/null; }
            c 'DishReady on thread cook'; mkdir -p Sources/kitchen; touch Sources/kitchen/main.swift
            c 'DishReady on thread cook'; c 'DishReady on main'; c 'Savd on main'
            c 'DishReady on thread cook' --annotations none
            """)
        let message = """
            observer 3 of DishReady ran on main 6 times%0Anotifications.jsonl:40 6.31 ms main deliver #9 DishReady \
            observer 3; posted at kitchen/main.swift:12; observed at kitchen/main.swift:16
            """
        XCTAssertEqual(
            outcome.errors,
            """
            ::error title=DishReady on thread cook::kitchen/main.swift:16: \(message)
            ::error file=Sources/kitchen/main.swift,line=16,title=DishReady on thread cook::\(message)
            ::error title=Savd on main::the recording does not have the notification Savd

            """)
    }

    func testAProblemIsAnErrorANoteAWarningAnAcceptedFindingNothingAndTenOfEachAreShown() throws {
        let outcome = try job(
            """
            notify-demo diagnose --main-budget 1ms > /dev/null; echo 'unmatchedName' > accepted.txt
            notify-demo diagnose --accept accepted.txt | tail -n 2 | head -n 1
            cat > many; notify-demo diagnose many > /dev/null
            """,
            input: CasesTests.recording(
                (1...12).map { #""t":\#($0),"thread":1,"stage":"register","name":"N\#($0)","observer":\#($0)"# }
                    + [#""t":99,"thread":1,"stage":"end","reason":"exit""#]))
        let lines = outcome.errors.split(separator: "\n").map { $0.prefix { $0 != " " } }
        XCTAssertEqual(
            lines, ["::error", "::warning", "::warning"] + Array(repeating: "::warning", count: 10) + ["and"])
        XCTAssertEqual(outcome.output, "1 note, 1 accepted\n")
        XCTAssertTrue(outcome.errors.hasSuffix("\nand 2 warnings more\n"), outcome.errors)
    }

    func testASummaryIsAppendedAndCutAtAWholeFindingAndOneThatCannotBeWrittenIsAWarning() throws {
        let outcome = try job(
            #"""
            echo before > summary; notify-demo check --rule 'DishReady on thread cook' &> /dev/null; cat summary
            head -c 1048300 /dev/zero | tr '\0' x > summary; notify-demo diagnose &> /dev/null
            test $(wc -c < summary) -le 1048576 && tail -n 2 summary
            head -c 1048576 /dev/zero > summary; notify-demo diagnose &> /dev/null; wc -c < summary
            GITHUB_STEP_SUMMARY=/nonexistent/a notify-demo check --rule 'DishReady on main' > /dev/null; echo $?
            """#)
        XCTAssertEqual(
            outcome.output,
            #"""
            before

            ### notify-demo check

            0 passed, 1 failed

            | | kind or rule | finding | location |
            |---|---|---|---|
            | problem | `DishReady on thread cook` | observer 3 of DishReady ran on main 6 times<br>\#
            notifications.jsonl:40 6.31 ms main deliver #9 DishReady observer 3; posted at kitchen/main.swift:12; \#
            observed at kitchen/main.swift:16 | `kitchen/main.swift:16` |

            and 2 more

            1048576
            0

            """#)
        XCTAssertTrue(outcome.errors.contains("cannot append to the job's summary /nonexistent/a: "))
    }

    func testNoCommandPrintsACommandOfTheServiceWhateverNamesSay() throws {
        let name = ##"::error::a,b%25 ##[group]|`c`<d>"##
        let outcome = try job(
            #"""
            cat > '::error::f'; f='::error::f'; cp "$f" "$f.2"; sed -i 's/,b%/,c%/' "$f.2"
            for c in show 'show --json' diagnose 'diagnose --json' stats 'stats --json' timeline trace 'timeline --svg' \
            'check --rule no\ finding' 'check --rule no\ finding --junit -'; do eval "notify-demo $c \"\$f\""; done > out
            notify-demo compare "$f" "$f.2" >> out; notify-demo show "$f" --name '::x ##[y]' >> out
            notify-demo '##[group]' ; notify-demo $'\n::error::x'
            grep -cE '^\s*::|##\[' out summary; notify-demo stats --json "$f" | jq -r '.names[0].label'
            """#,
            input: CasesTests.recording([
                #""t":1,"thread":1,"stage":"register","name":"\#(name)","observer":1,"target":2"#,
                #""t":2,"thread":1,"stage":"post","name":"\#(name)","post":1,"count":0"#,
                #""t":3,"thread":1,"stage":"log","message":"\#(name)""#,
                #""t":4,"thread":1,"stage":"end","reason":"exit""#,
            ]))
        XCTAssertEqual(outcome.output, "out:0\nsummary:0\n\(name)\n", outcome.errors)
        for line in outcome.errors.split(separator: "\n") {
            XCTAssertFalse(line.contains("##["), "\(line)")
            XCTAssertTrue(!line.contains(/^\s*::/) || line.contains(/^::(warning|error) title=/), "\(line)")
        }
        XCTAssertTrue(outcome.errors.contains("%0A") && outcome.errors.contains("a,b%2525"), outcome.errors)
    }
}

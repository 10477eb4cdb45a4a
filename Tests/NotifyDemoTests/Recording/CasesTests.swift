import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// Recordings and logs of `Tests/Cases`, and what the commands say about them.
final class CasesTests: XCTestCase {
    private static let root = Repository.root.path

    /// Runs shell lines in a directory of their own with the cases.
    ///
    /// - Parameter input: the contents of standard input.
    private func shell(_ lines: String, input: String = "") throws -> Shell.Outcome {
        try Shell.run(
            """
            cd "$(mktemp -d)"; trap 'rm -r "$PWD"' EXIT
            cp '\(Self.root)'/Tests/Cases/* .
            \(lines)
            """, input: input)
    }

    /// The records of one process, whose threads are main (1), worker (2) and other (3).
    ///
    /// - Parameters:
    ///   - version: of the schema.
    ///   - records: the fields of each record after its number, such as `"t":1000,"thread":1,"stage":"fork"`.
    static func recording(_ records: [String], version: Int = 2, threads: [String] = []) -> String {
        let known = ["main", "worker", "other"].enumerated().map { number, name in
            "{\"thread\":\(number + 1),\"name\":\"\(name)\",\"kernelID\":\(number + 1)}"
        }
        let header = "{\"recording\":\(version),\"process\":1,\"name\":\"p\",\"n\":1,\"t\":0,\"wall\":0}"
        let lines = records.enumerated().map { number, record in "{\"n\":\(number + 1),\(record)}" }
        return ([header] + known + threads + lines).joined(separator: "\n") + "\n"
    }

    private func object(_ text: some StringProtocol) throws -> [String: Any] {
        try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    // MARK: Text for a terminal

    func testAHintForAShellSelectsWhatItNamesAndRunsNothingElse() throws {
        let recording = try String(contentsOfFile: "\(Self.root)/Tests/Cases/next-hint.jsonl", encoding: .utf8)
        for name in ["Dish$(touch pwned)", "-it's ", "a \\\"b\\\"", "a\\nb", "`touch pwned`", "\\u001b[31m"] {
            let outcome = try shell(
                """
                cat > "-it's.jsonl"; notify-demo diagnose -- "-it's.jsonl" > found
                sed -n 's/^Next: //p' found > hint
                sh ./hint > drawn; echo $?; ls pwned 2> /dev/null; grep -c register drawn
                """, input: recording.replacing("Dish$(touch pwned)", with: name))
            XCTAssertEqual(outcome.output, "0\n1\n", "\(name): \(outcome.errors)")
        }
    }

    func testNoCommandPrintsAControlCharacterOfARecordingOrOfTheNameOfAFile() throws {
        let outcome = try shell(
            #"""
            f=$'e\e[31m\nf.jsonl'; none=$'none\e[31m\n'; cp escape.jsonl "$f"; rule=$'A\e[31m on main'
            printf '{"n":1,"t":1,"thread":1,"stage":"\033[31m"}\n{"\033[31m\n' >> "$f"
            printf '2016-02-13 22:05:12.856 test[865:45102] a\033[31m\n' > one; sed 's/a/b/' one > two
            for c in show 'show --json' diagnose 'diagnose --json' stats 'stats --by observer' 'stats --json' \
            timeline 'timeline --svg' trace; do notify-demo $c "$f"; notify-demo $c "$none"; done
            for format in '' --json '--junit -' '--sarif -'; do
            notify-demo check "$f" --rule "$rule" --rule 'no problem' $format; done
            printf 'A\033[31m onn main\n' > "$none"; notify-demo check "$f" --rules "$none"
            notify-demo check "$f" --rule $'\e[31m'; notify-demo show $'--\e[31m'; notify-demo $'\e[31m'
            notify-demo compare "$f" escape.jsonl; notify-demo compare one two; notify-demo compare one "$none"
            notify-demo record -o "$f" -- $'./none\e[31m'
            notify-demo record -o "$f" -- sh -c 'cat escape.jsonl > "$THREADED_NOTIFICATIONS_RECORDING"'
            """#)
        XCTAssertTrue(outcome.output.contains("31m"))
        for text in [outcome.output, outcome.errors] {
            let control = text.unicodeScalars.first { $0.properties.generalCategory == .control && $0 != "\n" }
            let around = control.flatMap { text.unicodeScalars.firstIndex(of: $0) }
            XCTAssertNil(control, "\(around.map { text[..<$0].suffix(200) } ?? "")")
            // A newline of a name would begin a line.
            XCTAssertFalse(text.split(separator: "\n").contains { $0.hasPrefix("f.jsonl") }, text)
        }
    }

    func testC1ControlCharactersAreEscapedInAHeaderOfShowAndInATrace() throws {
        let outcome = try shell(
            #"""
            sed '1s/"name":"[^"]*"/"name":"p\xc2\x9b2J"/; s/"A"/"A\xc2\x9b"/' gone-without-append.jsonl > c1.jsonl
            notify-demo show --json --from 1us --to 1us c1.jsonl; notify-demo trace c1.jsonl
            """#)
        XCTAssertFalse(outcome.output.unicodeScalars.contains("\u{9B}"), outcome.output)
        XCTAssertTrue(outcome.output.contains(#""name":"p\u009b2J""#), outcome.output)
    }

    func testAMessageThatCannotBeWrittenLeavesTheStatusAsItIs() throws {
        let outcome = try shell(
            """
            notify-demo diagnose --depth $'\\e[31mx' 2>&-; echo $?
            notify-demo diagnose --depth $'\\e[31mx' 2> /dev/full; echo $?
            """)
        XCTAssertEqual(outcome.output, "64\n64\n")
    }

    // MARK: Reading

    func testTheLinesThatShowPrintsAreReadAsTheFile() throws {
        let outcome = try shell(
            #"""
            sed 3d gone-without-append.jsonl > missing.jsonl; head -c 300 gone-without-append.jsonl > cut.jsonl
            sed 's/"n":2/"n":9/' gone-without-append.jsonl > gap.jsonl
            cat escape.jsonl gone-without-append.jsonl > two.jsonl
            for f in at-lost.jsonl missing.jsonl cut.jsonl gap.jsonl two.jsonl; do
            notify-demo show --json "$f" > shown 2> /dev/null
            for c in show diagnose 'diagnose --json' 'stats --by observer' 'stats --json' timeline trace \
            "check --rule no\ problem --rule everything\ delivered" "compare escape.jsonl"; do
            eval "notify-demo $c -" < "$f" > one 2>&1; echo $? >> one
            eval "notify-demo $c -" < shown > other 2>&1; echo $? >> other
            cmp -s one other || { echo "$c $f"; diff one other; }; done; done
            """#)
        XCTAssertEqual(outcome.output, "")
    }

    func testASelectionOfLinesIsReadWithoutComplaint() throws {
        let outcome = try shell(
            """
            notify-demo show --json --name A gone-without-append.jsonl > all
            notify-demo show --json --from 1us --to 1us gone-without-append.jsonl > one
            for f in all one; do grep -c stage $f; notify-demo show $f; done
            """)
        XCTAssertEqual(outcome.output.split(separator: "\n").first, "3")
        XCTAssertFalse(outcome.errors.contains(" is missing"), outcome.errors)
        XCTAssertFalse(outcome.errors.contains("left out"), outcome.errors)
    }

    func testANumberThatIsOutOfRangeIsADamagedLineForEveryCommand() throws {
        let keys = [
            "thread", "kernelID", "target", "post", "observer", "by", "line", "count", "signal", "n", "t", "wall",
            "process",
        ]
        var lines = [#"{"recording":2,"process":1,"name":"p","n":1,"t":0,"wall":0}"#]
        for value in [
            "0", "2147483648", "9223372036854775807", "18446744073709551615", "99999999999999999999", "-1", "1.5",
        ] {
            for key in keys {
                for stage in ["register", "post", "append", "deliver", "remove", "lost", "wait", "end", "count"] {
                    lines.append(
                        #"{"\#(key)":\#(value),"t":5,"thread":1,"stage":"\#(stage)","name":"A","file":"f","observer":1}"#
                    )
                }
                lines.append(#"{"thread":2,"\#(key)":\#(value)}"#)
                lines.append(#"{"recording":2,"process":1,"name":"p","n":1,"t":0,"wall":0,"\#(key)":\#(value)}"#)
            }
        }
        let outcome = try shell(
            """
            cat > numbers.jsonl
            for c in show 'show --json' diagnose stats timeline 'timeline --svg' trace \\
            'check --rule everything\\ delivered' 'compare escape.jsonl'; do
            eval "notify-demo $c numbers.jsonl" > /dev/null 2> errors; status=$?; [ $status -lt 3 ] || echo "$c $status"
            grep -q 'the value of "thread" is out of range' errors || cat errors; done
            """, input: lines.joined(separator: "\n"))
        XCTAssertEqual(outcome.output, "")
    }

    func testEveryCommandPrintsTheThreadOfAWaitByItsName() throws {
        let file = Self.recording([
            #""t":1000,"thread":1,"stage":"wait","message":"{number = 2, name = worker} to handle B","target":2"#,
            #""t":9000,"thread":1,"stage":"end","reason":"exit""#,
        ])
        for command in ["show", "timeline", "diagnose", "trace"] {
            let outcome = try Shell.run("notify-demo \(command) -", input: file)
            XCTAssertTrue(outcome.output.contains("worker to handle B"), "\(command): \(outcome)")
            XCTAssertFalse(outcome.output.contains("{number"), "\(command): \(outcome)")
        }
    }

    func testARecordOfAThreadThatIsNotKnownIsNotShownAsThatOfMain() throws {
        let log = #""t":1000,"thread":1,"stage":"log","message":"begins""#
        for (kernelID, isMain) in [("999", false), ("1", true)] {
            let end = #""t":2000,"kernelID":\#(kernelID),"stage":"end","reason":"exit""#
            let shown = try Shell.run("notify-demo show -", input: Self.recording([log, end], version: 3))
            XCTAssertEqual(shown.output.contains("main  end"), isMain, "\(shown)")
        }
        let none = try Shell.run("notify-demo diagnose -", input: Self.recording([], version: 3))
        XCTAssertTrue(none.output.contains("note: The recording has no records."), "\(none)")
    }

    // MARK: Long recordings

    /// Prints a recording of as many posts, each of another name.
    private static let manyNames = #"""
        many() { awk -v n="$1" 'BEGIN {
        print "{\"recording\":3,\"process\":7,\"name\":\"p\",\"n\":1,\"t\":0,\"wall\":0}\n{\"thread\":1,\"name\":\"main\"}"
        for (i = 1; i <= n; i++) { s = ""; for (j = 0; j < 12; j++) s = s sprintf("%06d", (i * 7919 + j * 104729) % 999983)
        printf "{\"n\":%d,\"t\":%d,\"thread\":1,\"stage\":\"post\",\"name\":\"N%s\",\"post\":%d,\"count\":0}\n", i, i, s, i }
        printf "{\"n\":%d,\"t\":%d,\"thread\":1,\"stage\":\"end\",\"reason\":\"exit\"}\n", n + 1, n + 1 }'; }
        """#

    func testManyNamesCostNoMoreThanTheirNumber() throws {
        // The limits are of processor time, and are ten times as much as is needed.
        let outcome = try shell(
            """
            \(Self.manyNames)
            many 20000 > many.jsonl; name=$(sed -n '9000s/.*"name":"\\([^"]*\\)".*/\\1/p' many.jsonl)
            (ulimit -t 40; notify-demo stats many.jsonl | sed -n 2p | cut -d " " -f 1,2)
            (ulimit -t 40; notify-demo check many.jsonl --rule "x$name observed" | grep -c "did you mean $name?")
            """)
        XCTAssertEqual(outcome.output, "20000 posted\n1\n", outcome.errors)
    }

    // MARK: Accounts

    func testStatisticsOfAPartCountOnlyItsRecords() throws {
        let outcome = try shell(
            """
            cat > part.jsonl
            for o in '--from 1s' '--thread main' '--name A' ''; do notify-demo stats --json $o part.jsonl | jq -c \\
            '[.total.delivered, .total.posted, .names[0].delivered, .names[0].pending, ([.observers[].matched] | add),
            ([.threads[].delivered] | add)]'; done
            """,
            input: """
                {"recording":3,"process":7,"name":"p","n":1,"t":0,"wall":0}
                {"thread":1,"name":"main"}
                {"thread":2,"name":"worker"}
                {"n":1,"t":1000,"thread":1,"stage":"register","name":"A","observer":1,"target":1}
                {"n":2,"t":2000,"thread":1,"stage":"register","name":"A","observer":2,"target":2}
                {"n":3,"t":3000,"thread":2,"stage":"post","name":"A","post":1,"count":2}
                {"n":4,"t":4000,"thread":2,"stage":"append","name":"A","post":1,"observer":1,"target":1}
                {"n":5,"t":5000,"thread":2,"stage":"deliver","name":"A","post":1,"observer":2}
                {"n":6,"t":6000,"thread":2,"stage":"return","name":"A","post":1,"observer":2}
                {"n":7,"t":2000000000,"thread":1,"stage":"deliver","name":"A","post":1,"observer":1}
                {"n":8,"t":2000000001,"thread":1,"stage":"return","name":"A","post":1,"observer":1}
                {"n":9,"t":2000000002,"thread":1,"stage":"end","reason":"exit"}

                """)
        XCTAssertEqual(
            outcome.output, "[1,0,1,0,1,1]\n[1,0,1,0,1,1]\n[2,1,2,0,2,2]\n[2,1,2,0,2,2]\n", outcome.errors)
    }

    func testANotificationThatIsCalledThreadEndIsAPostAndTheEndOfAThreadIsNone() throws {
        let outcome = try shell(
            """
            sed 's/"A"/"ThreadEnd"/; s/"stage":"post"/"stage":"capture"/' gone-without-append.jsonl > user.jsonl
            sed 's/"ThreadEnd"/"ThreadedNotifications.ThreadEnd"/' user.jsonl > end.jsonl
            for f in user end; do notify-demo stats --json $f.jsonl | jq .total.posted; done
            """)
        XCTAssertEqual(outcome.output, "1\n0\n", outcome.errors)
    }

    func testStatisticsAndDiagnosisHaveOneAccount() throws {
        let outcome = try shell(
            """
            notify-demo stats --json gone-without-append.jsonl | jq -c '.observers[0] | [.matched, .targetGone, .delivered]'
            notify-demo diagnose gone-without-append.jsonl | grep -o '1 posted.*'
            """)
        XCTAssertEqual(
            outcome.output, "[1,1,0]\n1 posted, 1 matched, 1 target gone; all accounted for\n", outcome.errors)
    }

    func testWhatWaitsAtTheEndIsNoSuccess() throws {
        let outcome = try shell(
            """
            sed '/targetGone/s/targetGone/append/' gone-without-append.jsonl > waiting.jsonl
            notify-demo stats waiting.jsonl | grep matched:
            notify-demo diagnose waiting.jsonl | grep -c ' all accounted for'
            for rule in 'everything delivered' 'A delivered'; do for f in waiting gone-without-append; do
            notify-demo check $f.jsonl --rule "$rule"; echo $?; done; done
            sed '/post/d; /targetGone/d; s/"n":4/"n":2/' gone-without-append.jsonl > none.jsonl
            notify-demo check none.jsonl --rule 'everything delivered' --rule 'A delivered' --rule 'B delivered'
            """)
        func failed(_ rule: String, _ file: String, _ count: String, _ outcome: String, _ stage: String) -> String {
            """
            FAILED  \(rule): 1 \(count)
              #1 of A, posted by main (line 5), was not delivered to observer 1 of A: \(outcome)
                \(file).jsonl:5 1 µs main post #1 A to 1 observer
                \(file).jsonl:6 2 µs main \(stage) #1 A observer 1 for t
                \(file).jsonl:4 0 ns main register A observer 1 for t
            0 passed, 1 failed
            1

            """
        }
        let failures = ["everything delivered", "A delivered"].map { rule in
            failed(rule, "waiting", "pending", "it waited when the recording ended", "append")
                + failed(rule, "gone-without-append", "target gone", "target gone (line 6)", "targetGone")
        }
        XCTAssertEqual(
            outcome.output,
            """
            1 matched: 1 pending
            0
            \(failures.joined())FAILED  everything delivered: nothing was posted
            FAILED  A delivered: A was never posted
            FAILED  B delivered: the recording does not have the notification B; did you mean A?
            0 passed, 3 failed

            """)
    }

    func testDeliveredStatisticsAndDiagnosisSayTheSameOfAPostThatDidNotReturn() throws {
        let lines = """
            {"recording":3,"process":1,"name":"p","n":1,"t":0,"wall":0}
            {"thread":1,"name":"main","kernelID":1}
            {"thread":2,"name":"worker","kernelID":2}
            {"n":1,"t":1000,"thread":1,"stage":"register","name":"A","observer":1,"foundation":true,"center":"1"}
            {"n":2,"t":2000,"thread":1,"stage":"register","name":"A","observer":2,"queue":"5","foundation":true,"center":"1"}
            {"n":3,"t":3000,"thread":1,"stage":"register","name":"A","observer":3,"foundation":true,"center":"2"}
            {"n":4,"t":4000,"thread":2,"stage":"post","name":"A","post":1,"foundation":true,"center":"1"}
            {"n":5,"t":5000,"thread":2,"stage":"deliver","name":"A","post":1,"observer":1,"foundation":true}
            {"n":6,"t":6000,"thread":2,"stage":"return","name":"A","post":1,"observer":1,"foundation":true}
            {"n":7,"t":9000000000,"thread":1,"stage":"end","reason":"exit"}

            """
        let outcome = try shell(
            """
            cat > waiting.jsonl
            notify-demo check waiting.jsonl --rule 'everything delivered' --rule 'A delivered'
            notify-demo stats waiting.jsonl | grep matched:; notify-demo diagnose waiting.jsonl | grep -o '1 posted.*'
            # The handler of the only observer ends the process.
            sed '/"observer":[23]/d; /return/d; s/"n":4/"n":2/; s/"n":5/"n":3/; s/"n":7/"n":4/' waiting.jsonl > exit.jsonl
            notify-demo check exit.jsonl --rule 'A delivered'
            """, input: lines)
        let failure = """
            1 delivered, 1 pending
              #1 of A, posted by worker (line 7), had not returned when the recording ended and had not reached \
            observer 2 of A
                waiting.jsonl:7 3 µs worker post #1 A
                waiting.jsonl:5 1 µs main register A observer 2
            """
        XCTAssertEqual(
            outcome.output,
            """
            FAILED  everything delivered: \(failure)
            FAILED  A delivered: \(failure)
            0 passed, 2 failed
            2 matched: 1 delivered, 1 pending
            1 posted, 2 matched, 1 delivered, 1 pending; all others accounted for
            ok      A delivered: 1 delivered
            1 passed, 0 failed

            """, outcome.errors)
    }

    func testDeliveredSaysOnlyWhatTheRecordingHas() throws {
        let outcome = try shell(
            """
            sed 's/targetGone/skip/' gone-without-append.jsonl > skipped.jsonl
            sed '1s/"recording":2/"recording":3/; $d; s/targetGone/deliver/' gone-without-append.jsonl > killed.jsonl
            sed '/targetGone/d; s/"count":1/"count":0/; s/"n":4/"n":3/' gone-without-append.jsonl > unobserved.jsonl
            for f in skipped killed unobserved; do for rule in 'A delivered' 'everything delivered'; do
            notify-demo check $f.jsonl --rule "$rule" | grep FAILED; done; done
            """)
        let failures = [
            "no handler was due for 1 post",
            "process 1 ended without notice, so it may not have delivered everything: 1 delivered",
            "none of 1 post had an observer",
        ]
        XCTAssertEqual(
            outcome.output,
            failures.map { "FAILED  A delivered: \($0)\nFAILED  everything delivered: \($0)\n" }.joined(),
            outcome.errors)
    }

    // MARK: Rules

    func testFindingsAreAcceptedByRecordAsByCheck() throws {
        let outcome = try shell(
            """
            echo 'no problem' > rules.txt; notify-demo diagnose --json accept.jsonl | jq -r '.findings[].kind' > accepted.txt
            run() { notify-demo record -o run.jsonl --check rules.txt "$@" -- \\
            sh -c 'cat accept.jsonl > "$THREADED_NOTIFICATIONS_RECORDING"' 2> errors; echo $?; grep -E 'passed|^ok' errors; }
            for options in '' '--accept accepted.txt' '--junit j.xml --sarif s.sarif'; do
            run $options; notify-demo check accept.jsonl --rules rules.txt $options > text; echo $?
            grep -E 'passed|^ok' text; done; grep -c testcase j.xml; grep -c runs s.sarif
            """)
        let failed = String(repeating: "1\n0 passed, 1 failed\n", count: 2)
        let accepted = String(
            repeating: "0\nok      no problem: no problems, and 1 accepted\n1 passed, 0 failed\n", count: 2)
        XCTAssertEqual(outcome.output, "\(failed)\(accepted)\(failed)2\n1\n", outcome.errors)
    }

    func testAProcessThatEndedWithoutNoticeFailsOnlyTheRulesAboutItsEnd() throws {
        let outcome = try shell(
            """
            sed '1s/"recording":2/"recording":3/; $d; s/targetGone/deliver/' gone-without-append.jsonl > killed.jsonl
            for rule in 'A observed' 'no post longer than 1 h' 'everything delivered' 'no observer left at exit'; do
            notify-demo check killed.jsonl --rule "$rule" 2> errors | grep -c 'is complete'
            echo "${PIPESTATUS[0]} $(grep -c 'ended without notice' errors)"; done
            """)
        XCTAssertEqual(outcome.output, "0\n0 1\n0\n0 1\n0\n1 1\n0\n1 1\n", outcome.errors)
    }

    func testANameWithoutItsModuleIsAcceptedAndIgnoredAsInRules() throws {
        let outcome = try shell(
            """
            sed 's/"A"/"jobs.JobArrived"/' gone-without-append.jsonl > all.jsonl
            sed '/"post":1/d; s/"n":4/"n":2/' all.jsonl > one.jsonl
            sed '/"observer":1/d; s/"n":2/"n":1/; s/"n":4/"n":2/' all.jsonl > posted.jsonl
            sed '/"post"/d; s/"n":2/"n":1/' posted.jsonl > none.jsonl
            notify-demo diagnose --json one.jsonl | jq -r '.findings[].kind' | sed 's/$/ JobArrived/' > accepted.txt
            grep -c unmatchedName accepted.txt
            notify-demo diagnose --json --accept accepted.txt one.jsonl | jq -c '[.findings[].kind] | index("unmatchedName")'
            for name in JobArrived Other; do notify-demo compare --ignore $name posted.jsonl none.jsonl > text 2>&1
            echo $?; done
            """)
        XCTAssertEqual(outcome.output, "1\nnull\n0\n1\n", outcome.errors)
    }

    func testRecordRefusesWhatHasNoEffectOrWouldPrintWhereTheProgramPrints() throws {
        let outcome = try shell(
            """
            echo 'no problem' > rules.txt
            for o in --json --allow-incomplete '--accept none' '--depth 3' '--junit j.xml' '--check rules.txt --json' \\
            '--check rules.txt --junit -'; do notify-demo record $o -- touch made 2> errors
            echo "$? $(grep -cE 'Name a file (of them with --check|with --junit)|has no option "--json"' errors)"; done; ls
            notify-demo record -o 'my file' './my prog' x 2>&1 | head -n 1
            """)
        XCTAssertEqual(outcome.output.components(separatedBy: "64 1\n").count, 8, outcome.output)
        XCTAssertFalse(outcome.output.contains("made"), outcome.output)
        let command = "notify-demo record -o 'my file' -- './my prog' x"
        XCTAssertTrue(outcome.output.contains("the program must follow --: \(command)"), outcome.output)
    }

    func testBracesAndLinksOfNamesAreNoPlaceholdersAndNoLinksInSARIF() throws {
        let outcome = try shell("notify-demo check sarif-braces.jsonl --rule 'every post observed' --sarif -")
        let runs = try object(outcome.output)["runs"] as? [[String: Any]]
        let result = (runs?.first?["results"] as? [[String: Any]])?.first
        let text = (result?["message"] as? [String: String])?["text"] ?? ""
        XCTAssertTrue(text.contains(#"Dish{{0}}Ready \[x\](y)"#), text)
    }

    func testTheNameOfATypedMessageMayBeWithoutItsModuleIfItIsTheOnlyOne() throws {
        let outcome = try shell(
            """
            sed 's/"A"/"jobs.JobArrived"/' gone-without-append.jsonl > one.jsonl
            sed '4s/"jobs.JobArrived"/"other.JobArrived"/' one.jsonl > two.jsonl
            for f in one two; do notify-demo check $f.jsonl --rule 'JobArrived observed' | head -n 1; done
            notify-demo check one.jsonl --rule 'JobArived observed' --rule 'Arrived observed' | grep FAILED
            notify-demo show one.jsonl --name JobArrived | wc -l
            """)
        XCTAssertEqual(
            outcome.output,
            """
            ok      JobArrived observed: 1 post
            FAILED  JobArrived observed: the recording does not have the notification JobArrived; did you mean \
            jobs.JobArrived or other.JobArrived?
            FAILED  JobArived observed: the recording does not have the notification JobArived; did you mean \
            jobs.JobArrived?
            FAILED  Arrived observed: the recording does not have the notification Arrived; did you mean \
            jobs.JobArrived?
            3

            """)
    }

    // MARK: Comparison

    func testLinesThatContinueAMessageAreCompared() throws {
        let outcome = try shell("notify-demo compare reason-1.log reason-2.log; echo $?")
        XCTAssertTrue(outcome.output.hasPrefix("the runs differ\n"), outcome.output)
        XCTAssertTrue(outcome.output.hasSuffix("\n1\n"), outcome.output)
    }

    func testRecordingsThatLackTheSameAreUndecidedAndADifferenceInThemIsOne() throws {
        let outcome = try shell(
            """
            sed '$d' gone-without-append.jsonl > short.jsonl; cp short.jsonl short2.jsonl
            sed 's/"A"/"B"/' short.jsonl > other.jsonl; sed 5d gone-without-append.jsonl > missing.jsonl
            for pair in 'short short2' 'short gone-without-append' 'missing missing' 'short other' 'header-only header-only' \\
            'gone-without-append gone-without-append'; do
            set -- $pair; notify-demo compare $1.jsonl $2.jsonl > text; echo $?; notify-demo compare --exact $1.jsonl $2.jsonl > text
            echo $?; done
            """)
        XCTAssertEqual(outcome.output, "2\n2\n2\n2\n2\n2\n1\n1\n2\n2\n0\n0\n", outcome.errors)
    }
}

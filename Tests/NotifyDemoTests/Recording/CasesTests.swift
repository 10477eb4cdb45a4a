import Foundation
import SharedTesting
import XCTest

/// The answers of the commands about the recordings and logs of `Tests/Cases`.
final class CasesTests: XCTestCase {
    /// Runs shell lines in a directory of their own with the cases.
    private func shell(_ lines: String, input: String = "") throws -> Shell.Outcome {
        try Shell.inDirectory("cp '\(Repository.root.path)'/Tests/Cases/* .\n\(lines)", input: input)
    }

    /// The records of one process, whose threads are main (1), worker (2) and other (3).
    ///
    /// - Parameters:
    ///   - version: of the schema.
    ///   - records: the fields of each record after its number, such as `"t":1000,"thread":1,"stage":"fork"`.
    static func recording(_ records: [String], version: Int = 2) -> String {
        let known = ["main", "worker", "other"].enumerated().map { number, name in
            "{\"thread\":\(number + 1),\"name\":\"\(name)\",\"kernelID\":\(number + 1)}"
        }
        let header = "{\"recording\":\(version),\"process\":1,\"name\":\"p\",\"n\":1,\"t\":0,\"wall\":0}"
        let lines = records.enumerated().map { number, record in "{\"n\":\(number + 1),\(record)}" }
        return ([header] + known + lines).joined(separator: "\n") + "\n"
    }

    // MARK: Text for a terminal

    func testAHintForAShellSelectsWhatItNamesAndRunsNothingElse() throws {
        let names = ["Dish$(touch pwned)", "-it's ", "a \\\"b\\\"", "a\\nb", "`touch pwned`", "\\u001b[31m"]
        let recording = try String(
            contentsOf: Repository.root.appending(path: "Tests/Cases/next-hint.jsonl"), encoding: .utf8)
        let lines = names.map {
            "try <<'END'\n\(recording.replacing("Dish$(touch pwned)", with: $0))END"
        }
        let outcome = try shell(
            """
            try() { cat > "-it's.jsonl"; notify-demo diagnose -- "-it's.jsonl" > found; sed -n 's/^Next: //p' found > hint
            sh ./hint > drawn; echo $?; ls pwned 2> /dev/null; grep -c register drawn; }
            \(lines.joined(separator: "\n"))
            """)
        XCTAssertEqual(outcome.output, String(repeating: "0\n1\n", count: names.count), outcome.errors)
    }

    func testNoCommandPrintsAControlCharacterOfARecordingOrOfTheNameOfAFile() throws {
        let outcome = try shell(
            #"""
            f=$'e\e[31m\nf.jsonl'; none=$'none\e[31m\n'; cp escape.jsonl "$f"; rule=$'A\e[31m on main'
            printf '{"n":1,"t":1,"thread":1,"stage":"\033[31m"}\n{"\033[31m\n' >> "$f"
            printf '2016-02-13 22:05:12.856 test[865:45102] a\033[31m\n' > one; sed 's/a/b/' one > two
            for c in show 'show --json' diagnose 'diagnose --json' stats 'stats --by observer' 'stats --json' \
            timeline 'timeline --svg' trace; do notify-demo $c "$f"; done; notify-demo show "$none"
            for format in '' --json '--junit -' '--sarif -'; do
            notify-demo check "$f" --rule "$rule" --rule 'no problem' $format; done
            printf 'A\033[31m onn main\n' > "$none"; notify-demo check "$f" --rules "$none"
            notify-demo check "$f" --rule $'\e[31m'; notify-demo show $'--\e[31m'; notify-demo $'\e[31m'
            notify-demo compare "$f" escape.jsonl; notify-demo compare one two; notify-demo compare one "$none"
            notify-demo record -o "$f" -- $'./none\e[31m'
            notify-demo record -o "$f" -- sh -c 'cat escape.jsonl > "$THREADED_NOTIFICATIONS_RECORDING"'
            sed '1s/"name":"[^"]*"/"name":"p\xc2\x9b2J"/; s/"A"/"A\xc2\x9b"/' gone-without-append.jsonl > c1.jsonl
            notify-demo show --json --from 1us --to 1us c1.jsonl; notify-demo trace c1.jsonl
            for errors in /dev/null /dev/full; do notify-demo diagnose --depth $'\e[31mx' 2> $errors; echo "status $?"; done
            """#)
        XCTAssertTrue(outcome.output.contains("31m") && outcome.output.contains(#""name":"p\u009b2J""#))
        XCTAssertTrue(outcome.output.hasSuffix("\nstatus 64\nstatus 64\n"))
        for text in [outcome.output, outcome.errors] {
            let control = text.unicodeScalars.first { $0.properties.generalCategory == .control && $0 != "\n" }
            let around = control.flatMap { text.unicodeScalars.firstIndex(of: $0) }
            XCTAssertNil(control, "\(around.map { text[..<$0].suffix(200) } ?? "")")
            // A newline of a name would begin a line.
            XCTAssertFalse(text.split(separator: "\n").contains { $0.hasPrefix("f.jsonl") }, text)
        }
    }

    // MARK: Reading

    func testTheLinesThatShowPrintsAreReadAsTheFileAndASelectionWithoutComplaint() throws {
        let outcome = try shell(
            #"""
            sed '3d; s/"n":4/"n":9/' gone-without-append.jsonl | head -c -9 > cut.jsonl
            cat escape.jsonl gone-without-append.jsonl > two.jsonl
            for f in at-lost.jsonl cut.jsonl two.jsonl; do notify-demo show --json "$f" > shown 2> /dev/null
            for c in show 'diagnose --json' 'stats --json' trace "compare escape.jsonl"; do
            eval "notify-demo $c -" < "$f" > one 2>&1; echo $? >> one
            eval "notify-demo $c -" < shown > other 2>&1; echo $? >> other
            cmp -s one other || { echo "$c $f"; diff one other; }; done; done
            notify-demo show --json --name A gone-without-append.jsonl > all
            notify-demo show --json --from 1us --to 1us gone-without-append.jsonl > one
            for f in all one; do grep -c stage $f; notify-demo show $f > /dev/null; done
            """#)
        XCTAssertEqual(outcome.output, "3\n1\n")
        XCTAssertEqual(outcome.errors.split(separator: "\n").filter { !$0.contains("there is no end record") }, [])
    }

    func testAThreadIsShownByItsNameAndOneThatIsNotKnownIsNotShownAsMain() throws {
        let wait = Self.recording([
            #""t":1000,"thread":1,"stage":"wait","message":"{number = 2, name = worker} to handle B","target":2"#,
            #""t":9000000000,"thread":1,"stage":"end","reason":"exit""#,
        ])
        for command in ["show", "timeline", "diagnose", "trace"] {
            let outcome = try Shell.run("notify-demo \(command) -", input: wait)
            XCTAssertTrue(outcome.output.contains("worker to handle B"), "\(command): \(outcome)")
            XCTAssertFalse(outcome.output.contains("{number"), "\(command): \(outcome)")
        }
        for (kernelID, isMain) in [("999", false), ("1", true)] {
            let records = [
                #""t":1000,"thread":1,"stage":"log","message":"begins""#,
                #""t":2000,"kernelID":\#(kernelID),"stage":"end","reason":"exit""#,
            ]
            let shown = try Shell.run("notify-demo show -", input: Self.recording(records, version: 3))
            XCTAssertEqual(shown.output.contains("main  end"), isMain, "\(shown)")
        }
        let none = try Shell.run("notify-demo diagnose -", input: Self.recording([], version: 3))
        XCTAssertTrue(none.output.contains("note: The recording is incomplete: it has no records."), "\(none)")
    }

    // MARK: Answers

    /// Claims about the cases, with shell lines and their output.
    private static let answers: [(claim: String, lines: String, output: String)] = [
        (
            "many names cost no more than their number; the limits are ten times the time that is needed",
            #"""
            awk -v n=4000 'BEGIN {
            print "{\"recording\":3,\"process\":7,\"name\":\"p\",\"n\":1,\"t\":0,\"wall\":0}\n{\"thread\":1,\"name\":\"main\"}"
            for (i = 1; i <= n; i++) { s = ""; for (j = 0; j < 12; j++) s = s sprintf("%06d", (i * 7919 + j * 104729) % 999983)
            printf "{\"n\":%d,\"t\":%d,\"thread\":1,\"stage\":\"post\",\"name\":\"N%s\",\"post\":%d,\"count\":0}\n", i, i, s, i }
            printf "{\"n\":%d,\"t\":%d,\"thread\":1,\"stage\":\"end\",\"reason\":\"exit\"}\n", n + 1, n + 1 }' > many.jsonl
            name=$(sed -n '2000s/.*"name":"\([^"]*\)".*/\1/p' many.jsonl); ulimit -t 10
            notify-demo stats many.jsonl | sed -n 2p | cut -d " " -f 1,2
            notify-demo check many.jsonl --rule "x$name observed" | grep -c "did you mean $name?"
            """#, "4000 posted\n1\n"
        ),
        (
            "statistics of a part count only its records",
            #"""
            cat > part.jsonl <<'END'
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
            END
            for o in '--from 1s' '--thread main' '--name A' ''; do notify-demo stats --json $o part.jsonl | jq -c \
            '[.total.delivered, .total.posted, .names[0].delivered, .names[0].pending, ([.observers[].matched] | add),
            ([.threads[].delivered] | add)]'; done
            """#, "[1,0,1,0,1,1]\n[1,0,1,0,1,1]\n[2,1,2,0,2,2]\n[2,1,2,0,2,2]\n"
        ),
        (
            "a notification that is called ThreadEnd is a post, and the end of a thread is none",
            #"""
            sed 's/"A"/"ThreadEnd"/; s/"stage":"post"/"stage":"capture"/' gone-without-append.jsonl > user.jsonl
            sed 's/"ThreadEnd"/"ThreadedNotifications.ThreadEnd"/' user.jsonl > end.jsonl
            for f in user end; do notify-demo stats --json $f.jsonl | jq .total.posted; done
            """#, "1\n0\n"
        ),
        (
            "what waits at the end is no success, and what was not posted or has no observer is not delivered",
            #"""
            sed '/targetGone/s/targetGone/append/' gone-without-append.jsonl > waiting.jsonl
            sed '/post/d; /targetGone/d; s/"n":4/"n":2/' gone-without-append.jsonl > none.jsonl
            sed 's/targetGone/skip/' gone-without-append.jsonl > skipped.jsonl
            sed '1s/"recording":2/"recording":3/; $d; s/targetGone/deliver/' gone-without-append.jsonl > killed.jsonl
            sed '/targetGone/d; s/"count":1/"count":0/; s/"n":4/"n":3/' gone-without-append.jsonl > unobserved.jsonl
            notify-demo stats waiting.jsonl | grep matched:
            for f in waiting gone-without-append none skipped killed unobserved; do
            notify-demo check $f.jsonl --rule 'A delivered' 2> /dev/null | grep '^[A-Z]'; done
            """#,
            """
            1 matched: 1 pending
            FAILED  A delivered: 1 pending
            FAILED  A delivered: 1 target gone
            FAILED  A delivered: A was never posted
            FAILED  A delivered: no handler was due for 1 post
            FAILED  A delivered: process 1 ended without notice, so it may not have delivered everything
            FAILED  A delivered: no handler was due for 1 post

            """
        ),
        (
            "a rule and statistics say the same of a post that did not return",
            #"""
            cat > waiting.jsonl <<'END'
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
            END
            # The handler of the only observer ends the process.
            sed '/"observer":[23]/d; /return/d; s/"n":4/"n":2/; s/"n":5/"n":3/; s/"n":7/"n":4/' waiting.jsonl > exit.jsonl
            for f in waiting exit; do notify-demo check $f.jsonl --rule 'everything delivered' | grep -i '^[a-z]'; done
            notify-demo stats waiting.jsonl | grep matched:
            """#,
            """
            FAILED  everything delivered: 1 delivered, 1 pending
            ok      everything delivered: 1 delivered
            2 matched: 1 delivered, 1 pending

            """
        ),
        (
            "record accepts findings as check does",
            #"""
            echo 'no problem' > rules.txt; notify-demo diagnose --json accept.jsonl | jq -r '.findings[].kind' > accepted.txt
            for options in '' '--accept accepted.txt'; do
            notify-demo record -o run.jsonl --check rules.txt $options -- \
            sh -c 'cat accept.jsonl > "$THREADED_NOTIFICATIONS_RECORDING"' 2> errors; echo $?; grep -E 'passed|^ok' errors
            notify-demo check accept.jsonl --rules rules.txt $options > text; echo $?
            grep -E 'passed|^ok' text; done
            """#,
            String(repeating: "1\n0 passed, 1 failed\n", count: 2)
                + String(
                    repeating: "0\nok      no problem: no problems, and 1 accepted\n1 passed, 0 failed\n", count: 2)
        ),
        (
            "a process that ended without notice fails only the rules about its end",
            #"""
            sed '1s/"recording":2/"recording":3/; $d; s/targetGone/deliver/' gone-without-append.jsonl > killed.jsonl
            for rule in 'A observed' 'everything delivered' 'no observer left at exit'; do
            notify-demo check killed.jsonl --rule "$rule" 2> errors | grep -c 'is complete'
            echo "${PIPESTATUS[0]} $(grep -c 'ended without notice' errors)"; done
            """#, "0\n0 1\n0\n1 1\n0\n1 1\n"
        ),
        (
            "a name without its module is accepted and ignored as in rules, if it is the only one",
            #"""
            sed 's/"A"/"jobs.JobArrived"/' gone-without-append.jsonl > all.jsonl
            sed '4s/"jobs.JobArrived"/"other.JobArrived"/' all.jsonl > two.jsonl
            sed '/"post":1/d; s/"n":4/"n":2/' all.jsonl > one.jsonl
            sed '/"observer":1/d; s/"n":2/"n":1/; s/"n":4/"n":2/' all.jsonl > posted.jsonl
            sed '/"post"/d; s/"n":2/"n":1/' posted.jsonl > none.jsonl; echo 'unmatchedName JobArrived' > accepted.txt
            notify-demo diagnose --json --accept accepted.txt one.jsonl | jq -c '[.acceptedCount, .findings]'
            for name in JobArrived Other; do notify-demo compare --ignore $name posted.jsonl none.jsonl > text 2>&1; echo $?; done
            for f in all two; do notify-demo check $f.jsonl --rule 'JobArrived observed' | head -n 1; done
            notify-demo check all.jsonl --rule 'JobArived observed' --rule 'Arrived observed' | grep FAILED
            notify-demo show all.jsonl --name JobArrived | wc -l
            """#,
            """
            [1,[]]
            0
            2
            ok      JobArrived observed: 1 post
            FAILED  JobArrived observed: the recording does not have the notification JobArrived; did you mean jobs.JobArrived?
            FAILED  JobArived observed: the recording does not have the notification JobArived; did you mean jobs.JobArrived?
            FAILED  Arrived observed: the recording does not have the notification Arrived; did you mean jobs.JobArrived?
            3

            """
        ),
        (
            "braces and links of names are no placeholders and no links in SARIF",
            #"""
            notify-demo check sarif-braces.jsonl --rule 'every post observed' --sarif - |
            jq -r '.runs[0].results[0].message.text' | grep -o 'Dish.*(y)' | head -n 1
            """#, #"Dish{{0}}Ready \[x\](y)"# + "\n"
        ),
        (
            "lines that continue a message are compared",
            "notify-demo compare reason-1.log reason-2.log | head -n 1; echo ${PIPESTATUS[0]}", "the runs differ\n1\n"
        ),
        (
            "incomplete recordings are undecided",
            #"""
            sed '$d' gone-without-append.jsonl > short.jsonl; cp short.jsonl short2.jsonl
            sed 's/"A"/"B"/' short.jsonl > other.jsonl; sed 5d gone-without-append.jsonl > missing.jsonl
            for pair in 'short short2' 'short gone-without-append' 'missing missing' 'short other' 'header-only header-only'
            do set -- $pair; notify-demo compare $1.jsonl $2.jsonl > text 2>&1; echo $?; done
            """#, "2\n2\n2\n2\n2\n"
        ),
    ]

    func testTheCommandsAnswerRightly() throws {
        for (claim, lines, output) in Self.answers {
            let outcome = try shell(lines)
            XCTAssertEqual(outcome.output, output, "\(claim): \(outcome.errors)")
        }
    }
}

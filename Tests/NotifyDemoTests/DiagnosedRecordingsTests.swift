import ChildProcesses
import Foundation
import SharedTesting
import XCTest

/// What `diagnose` says of a recording: lines of a file in, kinds, severities and sentences out.
final class DiagnosedRecordingsTests: XCTestCase {
    struct Finding: Decodable {
        struct Evidence: Decodable {
            var line: Int
            var text: String
        }

        var kind: String
        var severity: String
        var problem: String
        var details: [String]
        var remedy: String
        var evidence: [Evidence]

        var title: String { "\(severity) \(kind)" }
        var text: String { ([problem] + evidence.map(\.text) + details + [remedy]).joined(separator: "\n") }
    }

    private struct Report: Decodable { var findings: [Finding] }

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

    private func findings(_ recording: String, _ options: String = "") throws -> [Finding] {
        let outcome = try Shell.run("notify-demo diagnose --json \(options) -", input: recording)
        let report = try? JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
        return try XCTUnwrap(report, "\(outcome)").findings
    }

    private func findings(_ records: [String], version: Int = 2, _ options: String = "") throws -> [Finding] {
        try findings(Self.recording(records, version: version), options)
    }

    /// Expects one finding and returns its text.
    @discardableResult
    private func expect(
        _ title: String?, _ words: [String] = [], in findings: [Finding], line: UInt = #line
    ) -> String {
        XCTAssertEqual(findings.map(\.title), [title].compactMap(\.self), "\(findings.map(\.problem))", line: line)
        let text = findings.first?.text ?? ""
        for word in words { XCTAssertTrue(text.contains(word), "\(text)\ndoes not say: \(word)", line: line) }
        return text
    }

    // MARK: At the end

    /// Worker posts three notifications for main, which handles the first.
    private func backlog(_ end: String?) -> [String] {
        let register = #""t":1000,"thread":1,"stage":"register","name":"Done","observer":1,"target":1"#
        let posts = (1...3).flatMap { post -> [String] in
            let posted = #""t":\#(post)000000,"thread":2,"stage":"post","name":"Done","post":\#(post),"count":1"#
            let appended = #""t":\#(post)000000,"thread":2,"stage":"append","name":"Done","post":\#(post)"#
            return [
                posted + #","file":"p/main.swift","line":\#(10 + post)"#, appended + #","observer":1,"target":1"#,
            ]
        }
        let handled = [
            #""t":4000000,"thread":1,"stage":"deliver","name":"Done","post":1,"observer":1"#,
            #""t":4000000,"thread":1,"stage":"return","name":"Done","post":1,"observer":1"#,
        ]
        return [register] + posts + handled + [end].compactMap(\.self)
    }

    func testWhatWaitsWhenTheProcessExitsIsAProblemWithNameObserverThreadCountAndThePlaceOfTheFirstPost() throws {
        let exit = backlog(#""t":5000000,"thread":1,"stage":"end","reason":"exit""#)
        expect(
            "problem backlog",
            ["2 of 3 notifications for observer 1 of Done wait for main", "posted by worker at p/main.swift:12."],
            in: try findings(exit))
        let outcome = try Shell.run("notify-demo diagnose -", input: Self.recording(exit))
        XCTAssertEqual(outcome.end, .exit(1))
        XCTAssertTrue(outcome.output.contains("2 pending; all others accounted for"), outcome.output)
    }

    func testWhatWaitsWhenTheRecordingEndsEarlierThanTheProgramIsANote() throws {
        expect("note backlog", in: try findings(backlog(#""t":5000000,"thread":1,"stage":"end","reason":"stopped""#)))
        XCTAssertEqual(
            try findings(backlog(#""t":5000000,"thread":1,"stage":"end","reason":"signal","signal":15"#)).map(\.title),
            ["note backlog"])
        XCTAssertEqual(try findings(backlog(nil)).map(\.title), ["note backlog", "note incomplete"])
    }

    func testAPostThatWasHandledIsAccountedForAlsoIfItIsTheLastOfItsThread() throws {
        let handled = backlog(nil).filter { !$0.contains(#""post":2"#) && !$0.contains(#""post":3"#) }
        let end = #""t":5000000,"thread":1,"stage":"end","reason":"exit""#
        let outcome = try Shell.run("notify-demo diagnose -", input: Self.recording(handled + [end]))
        XCTAssertTrue(outcome.output.contains("1 delivered; all accounted for"), outcome.output)
    }

    func testWhatIsNotKnownToBeCompleteIsNotCalledAccountedFor() throws {
        let outcome = try Shell.run("notify-demo diagnose -", input: Self.recording(Array(backlog(nil).prefix(1))))
        XCTAssertFalse(outcome.output.contains("accounted"), outcome.output)
    }

    func testARecordingWithoutRecordsIsNotCalledAccountedForAndSaysThatItHasNone() throws {
        let outcome = try Shell.run("notify-demo diagnose -", input: Self.recording([], version: 3))
        XCTAssertTrue(outcome.output.contains("note: The recording has no records."), "\(outcome)")
        XCTAssertFalse(outcome.output.contains("accounted") || outcome.output.contains("only its"), "\(outcome)")
    }

    func testWhatWaitsForAnObserverOfAnyNameIsOneFinding() throws {
        let posts = ["A", "B", "C"].enumerated().flatMap { number, name in
            [
                #""t":2000,"thread":1,"stage":"post","name":"\#(name)","post":\#(number + 1),"count":1"#,
                #""t":3000,"thread":1,"stage":"append","name":"\#(name)","post":\#(number + 1),"observer":1,"target":2"#,
            ]
        }
        let handled = [
            #""t":4000,"thread":2,"stage":"deliver","name":"A","post":1,"observer":1"#,
            #""t":4000,"thread":2,"stage":"return","name":"A","post":1,"observer":1"#,
        ]
        let register = #""t":1000,"thread":1,"stage":"register","observer":1,"target":2"#
        let end = #""t":9000,"thread":1,"stage":"end","reason":"exit""#
        expect(
            "problem backlog", ["2 of 3 notifications for observer 1 of any name wait for worker"],
            in: try findings([register] + posts + handled + [end]))
    }

    func testBlocksThatWaitAreFoundBesideAHandlerThatPostsToItself() throws {
        let blocks = (100...102).map { #""t":1000,"thread":1,"stage":"append","post":\#($0),"target":3"# }
        let chain = (1...12).flatMap { post -> [String] in
            let fields = #""name":"A","post":\#(post)"#
            let before =
                post == 1 ? [] : [#""t":2000,"thread":2,"stage":"return","name":"A","post":\#(post - 1),"observer":5"#]
            let deliver = #""t":2000,"thread":2,"stage":"deliver",\#(fields),"observer":5"#
            return [
                #""t":2000,"thread":2,"stage":"post",\#(fields),"count":1"#,
                #""t":2000,"thread":2,"stage":"append",\#(fields),"observer":5,"target":2"#,
            ] + before + [deliver]
        }
        let end = #""t":3000,"thread":1,"stage":"end","reason":"exit""#
        let found = try findings(blocks + chain + [end])
        XCTAssertEqual(found.map(\.title), ["problem selfPosting", "problem backlog"])
        XCTAssertEqual(found.last?.problem.contains("3 of 3 blocks wait for other"), true, "\(found)")
    }

    func testANameThatAnotherProcessEnqueuedIsStillFoundMisspelt() throws {
        let enqueuing = Self.recording([
            #""t":1000,"thread":1,"stage":"enqueue","name":"ItemSaved","post":1,"target":1,"style":"asap""#,
            #""t":2000,"thread":1,"stage":"end","reason":"exit""#,
        ])
        let observing = Self.recording([
            #""t":1000,"thread":1,"stage":"register","name":"ItemSaved","observer":1,"target":1"#,
            #""t":2000,"thread":1,"stage":"post","name":"ItemSeved","post":1,"count":0"#,
            #""t":3000,"thread":1,"stage":"end","reason":"exit""#,
        ]).replacing("\"process\":1", with: "\"process\":2")
        XCTAssertEqual(
            try findings(enqueuing + observing).map(\.title),
            ["problem enqueuedNeverPosted", "problem unmatchedName"])
    }

    // MARK: Handlers that do not return

    /// A handler of a thread, which another thread posts to.
    private func handled(by thread: Int, returns: Bool = true) -> [String] {
        [
            #""t":1000,"thread":1,"stage":"register","name":"A","observer":1,"target":\#(thread)"#,
            #""t":2000,"thread":3,"stage":"post","name":"A","post":1,"count":1"#,
            #""t":3000,"thread":3,"stage":"append","name":"A","post":1,"observer":1,"target":\#(thread)"#,
            #""t":5000,"thread":\#(thread),"stage":"deliver","name":"A","post":1,"observer":1"#,
        ] + (returns ? [#""t":6000,"thread":\#(thread),"stage":"return","name":"A","post":1,"observer":1"#] : [])
    }

    func testAHandlerThatHangsIsFoundAlsoIfTheEndDoesNotSayItsThread() throws {
        let tick = #""t":20000000000,"thread":3,"stage":"log","message":"tick""#
        for end in [
            #""t":20000001000,"stage":"end","reason":"exit""#,
            #""t":20000001000,"kernelID":999,"stage":"end","reason":"exit""#,
        ] {
            for thread in [1, 2] {
                let stuck = handled(by: thread, returns: false)
                let words = ["recorded nothing else for 20 s"]
                expect("problem handlerNeverReturned", words, in: try findings(stuck + [tick, end], version: 3))
                // It may have ended the program after long work.
                expect("note handlerNeverReturned", words, in: try findings(stuck + [end], version: 3))
            }
        }
        let known = #""t":20000001000,"thread":2,"stage":"end","reason":"exit""#
        XCTAssertEqual(try findings(handled(by: 2, returns: false) + [tick, known], version: 3).map(\.title), [])
    }

    func testLostRecordsAndForksOfAnUnknownThreadAreNotRecordsOfMain() throws {
        for record in [#""stage":"lost","count":1"#, #""stage":"fork""#, #""kernelID":999,"stage":"fork""#] {
            let found = try findings(
                handled(by: 1, returns: false) + [
                    #""t":20000000000,"thread":3,"stage":"log","message":"tick""#, #""t":20000000000,\#(record)"#,
                    #""t":20000001000,"thread":3,"stage":"end","reason":"exit""#,
                ], version: 3)
            XCTAssertEqual(found.first?.title, "problem handlerNeverReturned", "\(found)")
        }
    }

    func testTheEndOfAThreadThatIsNotKnownIsNotShownAsThatOfMain() throws {
        let log = #""t":1000,"thread":1,"stage":"log","message":"begins""#
        let end = #""t":2000,"kernelID":999,"stage":"end","reason":"exit""#
        let unknown = try Shell.run("notify-demo show -", input: Self.recording([log, end], version: 3))
        XCTAssertFalse(unknown.output.contains("main  end"), "\(unknown)")
        // The main thread has the process's id, also if no record says so.
        let main = Self.recording([log, end.replacing("999", with: "1")], version: 3)
        let known = try Shell.run("notify-demo show -", input: main)
        XCTAssertTrue(known.output.contains("main  end"), "\(known)")
    }

    // MARK: Waits for operation queues

    private func queueWait(_ others: [String]) throws -> [Finding] {
        try findings(
            [
                #""t":1000,"thread":1,"stage":"register","name":"A","observer":1,"foundation":true,"#
                    + #""center":"1","queue":"main""#,
                #""t":2000,"thread":1,"stage":"remove","observer":1,"foundation":true"#,
            ] + others + [
                #""t":4000,"thread":2,"stage":"post","name":"A","post":1,"foundation":true,"center":"1""#,
                #""t":9000000000,"thread":1,"stage":"end","reason":"exit""#,
            ])
    }

    func testAPostThatWaitsForAnOperationQueueNamesTheObserverThatWasThereAndOfSeveralAllAsCandidates() throws {
        let one =
            #""t":3000,"thread":1,"stage":"register","name":"A","observer":2,"foundation":true,"center":"1","#
            + #""queue":"5""#
        let text = expect(
            "problem queueBlocksPoster",
            ["for the handler of observer 2 of A, which its operation queue did not begin"],
            in: try queueWait([one]))
        XCTAssertFalse(text.contains("observer 1"), text)
        expect(
            "problem queueBlocksPoster",
            ["the handler of one of 2 candidates", "candidate: observer 2 of A", "candidate: observer 3 of A"],
            in: try queueWait([one, one.replacing("\"observer\":2", with: "\"observer\":3")]))
    }

    // MARK: Names

    /// An observer of one name, and a post of another one without observers.
    private func names(_ observed: String, _ posted: String) throws -> [Finding] {
        try findings([
            #""t":1000,"thread":1,"stage":"register","name":"\#(observed)","observer":1,"target":1"#,
            #""t":2000,"thread":1,"stage":"post","name":"\#(posted)","post":1,"count":0"#,
            #""t":3000,"thread":1,"stage":"end","reason":"exit""#,
        ])
    }

    func testNamesThatDifferInAWholeWordAreDifferentNames() throws {
        for (observed, posted) in [
            ("ApplicationWillFinishLaunching", "ApplicationDidFinishLaunching"),
            ("DeviceConnected", "DeviceDisconnected"),
            ("JobStart", "JobStop"), ("com.example.get-value", "com.example.set-value"),
            ("Went.Online", "Went.Offline"),
            ("WindowWillClose", "WindowClose"), ("Step1Done", "Step2Done"), ("VolumeMounted", "VolumeUnmounted"),
        ] {
            expect("note unmatchedName", ["posted without an observer: \(posted)"], in: try names(observed, posted))
        }
    }

    func testANameWithATypingErrorInOtherCaseOrWithoutItsModuleIsAProblem() throws {
        for (observed, posted) in [
            ("WindowWillClose", "WindowWilClose"), ("JobArrived", "JobArrvied"), ("JobArrived", "jobArrived"),
            ("job.arrived", "JobArrived"), ("JobArrived", "jobs.JobArrived"), ("jobs.JobArrived", "JobArrived"),
        ] {
            expect("problem unmatchedName", ["\(posted) was posted once."], in: try names(observed, posted))
        }
    }

    func testANameIsNotCalledMisspeltBecauseOfAnotherOneThatIsObservedAndDelivered() throws {
        for (delivered, observed) in [
            ("ItemAdded", "ItemsAdded"), ("CartUpdated", "CardUpdated"), ("UserLogin", "UserLogic"),
            ("Done", "done"), ("Done", "jobs.Done"),
        ] {
            let own = handled(by: 1).map { $0.replacing(#""name":"A""#, with: #""name":"\#(delivered)""#) }
            let other = #""t":1000,"thread":1,"stage":"register","name":"\#(observed)","observer":9,"target":1"#
            let end = #""t":9000,"thread":1,"stage":"end","reason":"exit""#
            expect("note unmatchedName", in: try findings([other] + own + [end]))
        }
    }

    func testANameWithoutItsModuleSelectsTheOnlyNameThatHasItAndOfSeveralOneIsSuggested() throws {
        let one = #""t":2000,"thread":1,"stage":"post","name":"jobs.JobArrived","post":1,"count":0"#
        let other = #""t":2000,"thread":1,"stage":"post","name":"mail.JobArrived","post":2,"count":0"#
        let command = "notify-demo show --name JobArrived -"
        let found = try Shell.run(command, input: Self.recording([one]))
        XCTAssertTrue(found.output.contains("jobs.JobArrived"), "\(found)")
        let refused = try Shell.run(command, input: Self.recording([one, other]))
        XCTAssertTrue(refused.errors.contains("Did you mean \"jobs.JobArrived\" or"), "\(refused)")
    }

    /// Compared with the product of their lengths, these names would take minutes.
    func testSuggestionsCostAPassOverTheNamesHoweverLongTheyAre() throws {
        var generator = SeededGenerator(seed: 1)
        func name() -> String {
            String((0..<100).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &generator) ?? "a" })
        }
        let observed = (1...300).map { number in
            #""t":1,"thread":1,"stage":"register","name":"\#(name())","observer":\#(number),"target":1"#
        }
        let posted = (1...1000).map { number in
            #""t":2,"thread":1,"stage":"post","name":"\#(name())","post":\#(number),"count":0"#
        }
        let findings = try findings(observed + posted + [#""t":3,"thread":1,"stage":"end","reason":"exit""#])
        XCTAssertEqual(Set(findings.map(\.title)), ["note unmatchedName"])
        XCTAssertEqual(findings.count, 300)
    }

    // MARK: Faults

    func testEachKindOfFaultIsReportedWithItsCountAfterAHundredOfAnotherKind() throws {
        let cancelled = (1...100).map { post in
            #""t":\#(post + 1)000,"thread":1,"stage":"cancel","name":"A","post":\#(post),"observer":1"#
        }
        let twoOutcomes = [
            #""t":200000,"thread":1,"stage":"post","name":"A","post":900,"count":1"#,
            #""t":200000,"thread":1,"stage":"deliver","name":"A","post":900,"observer":1"#,
            #""t":200000,"thread":1,"stage":"return","name":"A","post":900,"observer":1"#,
            #""t":200000,"thread":1,"stage":"cancel","name":"A","post":900,"observer":1"#,
            #""t":200000,"thread":1,"stage":"end","reason":"exit""#,
        ]
        let register = #""t":1000,"thread":1,"stage":"register","name":"A","observer":1"#
        let findings = try findings([register] + cancelled + twoOutcomes)
        XCTAssertEqual(findings.map(\.title), ["problem unaccounted", "problem unaccounted"])
        XCTAssertEqual(findings.first?.problem.hasPrefix("Not accounted for, 100 times: "), true, "\(findings)")
        XCTAssertEqual(findings.last?.problem.contains("has two outcomes"), true, "\(findings)")
    }

    // MARK: Posting queues

    func testWhatAPostingQueueNeverPostedIsAProblemWithTheReason() throws {
        let register = #""t":1000,"thread":1,"stage":"register","name":"A","observer":1,"target":1"#
        let enqueue = #""t":2000,"thread":2,"stage":"enqueue","name":"A","post":1,"target":2,"style":"asap""#
        let end = #""t":1500000000,"thread":1,"stage":"end","reason":"exit""#
        expect(
            "problem enqueuedNeverPosted",
            [
                "A was enqueued once in a PostingQueue on worker and never posted, for 1.5 s",
                "the thread recorded nothing after that",
            ], in: try findings([register, enqueue, end]))
        let inPool = Self.recording(
            [register, enqueue.replacing("\"thread\":2", with: "\"thread\":4"), end].map {
                $0.replacing("\"target\":2", with: "\"target\":4")
            }, version: 3, threads: [#"{"thread":4,"kernelID":4,"pool":true}"#])
        expect(
            "problem enqueuedNeverPosted", ["the thread belongs to a Dispatch pool, and runs no run loop"],
            in: try findings(inPool))
        let gone = [
            #""t":3000,"thread":2,"stage":"targetGone","name":"A","post":1"#,
            #""t":4000,"thread":2,"stage":"threadEnd""#,
        ]
        expect(
            "problem enqueuedNeverPosted", ["the thread ended before that."],
            in: try findings([register, enqueue] + gone + [end])
        )
    }

    // MARK: Waits

    /// Main waits for worker, which is in a handler.
    private func wait(_ end: [String], isBusy: Bool = true, version: Int = 2) -> [String] {
        let place = #","file":"p/main.swift","line""#
        let register = #""t":2000,"thread":1,"stage":"register","name":"B","observer":2,"target":2\#(place):9"#
        let busy = [
            #""t":1000,"thread":1,"stage":"register","name":"Slow","observer":1,"target":2\#(place):8"#,
            #""t":3000,"thread":1,"stage":"post","name":"Slow","post":1,"count":1"#,
            #""t":4000,"thread":1,"stage":"append","name":"Slow","post":1,"observer":1,"target":2"#,
            #""t":10000000,"thread":2,"stage":"deliver","name":"Slow","post":1,"observer":1"#,
        ]
        let target = version > 2 ? #","target":2"# : ""
        let waits = [
            #""t":20000000,"thread":1,"stage":"wait","message":"{number = 2, name = worker} to handle B"\#(target)"#
                + place + ":11",
            #""t":20000000,"thread":1,"stage":"post","name":"B","post":2,"count":1"#,
            #""t":20000000,"thread":1,"stage":"append","name":"B","post":2,"observer":2,"target":2"#,
        ]
        let idle = [#""t":10000000,"thread":2,"stage":"log","message":"begins""#]
        return [register] + (isBusy ? busy : idle) + waits + end
    }

    func testAWaitThatTimedOutNamesTheHandlerThatOccupiedTheThreadSinceWhenAndWhereItWasAdded() throws {
        let end = [
            #""t":320000000,"thread":1,"stage":"waitEnd","reason":"timedOut""#,
            #""t":320000000,"thread":1,"stage":"cancel","name":"B","post":2,"observer":2"#,
            #""t":330000000,"thread":2,"stage":"return","name":"Slow","post":1,"observer":1"#,
            #""t":340000000,"thread":1,"stage":"end","reason":"exit""#,
        ]
        expect(
            "problem waitTimedOut",
            [
                "main waited for worker to handle B until the timeout, after 300 ms, at p/main.swift:11.",
                "worker was in the handler of observer 1 of Slow, added at p/main.swift:8, for 310 ms.",
            ], in: try findings(wait(end)))
    }

    func testAThreadThatWaitsUntilTheEndIsOneFindingWithWhatTheOtherThreadIsDoing() throws {
        let end = [#""t":7300000000,"thread":3,"stage":"end","reason":"exit""#]
        for version in [2, 3] {
            expect(
                "problem longWait",
                [
                    "main waits for worker since 7.28 s at p/main.swift:11; worker has recorded nothing since, "
                        + "its last "
                        + "record is: worker log \"begins\"."
                ], in: try findings(wait(end, isBusy: false, version: version), version: version))
        }
        expect(
            "problem handlerNeverReturned",
            [
                "worker is in the handler of observer 1 of Slow until the recording ends",
                "main wait \"worker to handle B\"; at p/main.swift:11",
            ], in: try findings(wait(end)))
    }

    func testAWaitForAThreadThatWaitsForAStuckOneIsEvidenceOfTheSameFinding() throws {
        let chain = [
            #""t":30000000,"thread":3,"stage":"wait","message":"{number = 1, name = main} to perform a block""#,
            #""t":7300000000,"thread":1,"stage":"end","reason":"signal","signal":15"#,
        ]
        let found = try findings(wait(chain)).filter { $0.severity == "problem" }
        expect("problem handlerNeverReturned", ["main wait \"worker to handle B\""], in: found)
    }

    func testAWaitForAMainThreadThatNeverRunsItsRunLoopHasTheRemedyForAnAsyncMain() throws {
        func wait(_ end: [String], main: String = #""stage":"log","message":"begins""#) throws -> [Finding] {
            try findings(
                [
                    #""t":1000,"thread":1,\#(main)"#,
                    #""t":3000,"thread":2,"stage":"wait","message":"{number = 1, name = main} to perform a block""#,
                ] + end + [#""t":5000001000,"thread":3,"stage":"end","reason":"exit""#])
        }
        let timedOut = [#""t":5000000000,"thread":2,"stage":"waitEnd","reason":"timedOut""#]
        expect("problem longWait", ["links AsyncMain", "MainRunLoop.run()"], in: try wait([]))
        expect("problem waitTimedOut", ["links AsyncMain", "MainRunLoop.run()"], in: try wait(timedOut))
        let continues = try wait([#""t":4000000000,"thread":1,"stage":"log","message":"continues""#])
        XCTAssertFalse(expect("problem longWait", in: continues).contains("AsyncMain"))
    }

    func testAShortWaitIsNoFindingAndALongOneThatEndsIsANote() throws {
        func end(_ time: Int) -> [String] {
            [
                #""t":\#(time),"thread":2,"stage":"deliver","name":"B","post":2,"observer":2"#,
                #""t":\#(time),"thread":2,"stage":"return","name":"B","post":2,"observer":2"#,
                #""t":\#(time),"thread":1,"stage":"waitEnd""#,
                #""t":\#(time),"thread":1,"stage":"end","reason":"exit""#,
            ]
        }
        XCTAssertEqual(try findings(wait(end(30_000_000), isBusy: false)).map(\.title), [])
        expect(
            "note longWait", ["main waited for worker for 2 s at p/main.swift:11."],
            in: try findings(wait(end(2_020_000_000), isBusy: false)))
        XCTAssertEqual(try findings(wait(end(2_020_000_000), isBusy: false), "--stall 3s").map(\.title), [])
        // Such as main, which waits for the end of a thread.
        let join = wait(end(2_020_000_000), isBusy: false).map { $0.replacing(" to handle B", with: " to end") }
        XCTAssertEqual(try findings(join).map(\.title), [])
    }

    func testEveryCommandPrintsTheThreadOfAWaitByItsName() throws {
        let file = Self.recording(wait([], isBusy: false, version: 3), version: 3)
        for command in ["show", "timeline", "diagnose", "trace"] {
            let outcome = try Shell.run("notify-demo \(command) -", input: file)
            XCTAssertTrue(outcome.output.contains("worker to handle B"), "\(command): \(outcome)")
            XCTAssertFalse(outcome.output.contains("{number"), "\(command): \(outcome)")
        }
    }

    // MARK: Threads

    func testTheRemedyForAThreadThatNeverRanItsRunLoopNamesItsNameAndNumber() throws {
        let text = expect(
            "note targetGone", ["worker (thread 2)", "RunLoop.current.run()"],
            in: try findings([
                #""t":1000,"thread":2,"stage":"register","name":"A","observer":1,"target":2,"#
                    + #""file":"p/main.swift","line":12"#,
                #""t":2000,"thread":1,"stage":"post","name":"A","post":1,"count":1,"file":"p/main.swift","line":20"#,
                #""t":3000,"thread":1,"stage":"append","name":"A","post":1,"observer":1,"target":2"#,
                #""t":9000000,"thread":2,"stage":"targetGone","name":"A","post":1,"observer":1,"target":2"#,
                #""t":9001000,"thread":2,"stage":"threadEnd""#,
                #""t":9900000,"thread":1,"stage":"end","reason":"exit""#,
            ]))
        XCTAssertFalse(text.contains("stop()"), text)
        expect(
            "problem neverDelivered", ["Make worker (thread 2) run its run loop"],
            in: try findings([
                #""t":1000,"thread":1,"stage":"register","name":"A","observer":1,"target":2"#,
                #""t":2000,"thread":1,"stage":"post","name":"A","post":1,"count":1"#,
                #""t":3000,"thread":1,"stage":"append","name":"A","post":1,"observer":1,"target":2"#,
                #""t":9900000,"thread":1,"stage":"end","reason":"exit""#,
            ]))
    }

    /// An observer of Foundation's center that was added on main, and posts of these threads.
    private func foundation(_ threads: Int...) throws -> [Finding] {
        let others = (4...20).map { "{\"thread\":\($0),\"name\":\"t\($0)\",\"kernelID\":\($0)}" }
        let register = #""t":1,"thread":1,"stage":"register","name":"Done","observer":1,"foundation":true,"center":"1""#
        let posts = zip(1..., threads).flatMap { number, thread in
            [
                #""t":2,"thread":\#(thread),"stage":"post","name":"Done","post":\#(number),"foundation":true,"#
                    + #""center":"1""#,
                #""t":2,"thread":\#(thread),"stage":"deliver","post":\#(number),"observer":1,"foundation":true"#,
                #""t":2,"thread":\#(thread),"stage":"return","post":\#(number),"observer":1,"foundation":true"#,
                #""t":2,"thread":\#(thread),"stage":"postEnd","post":\#(number),"count":1,"foundation":true"#,
            ]
        }
        let end = [#""t":2,"thread":1,"stage":"fork""#, #""t":3,"thread":1,"stage":"end","reason":"exit""#]
        return try findings(Self.recording([register] + posts + end, threads: others))
    }

    func testOneObserverThatIsCalledOnTwelveThreadsIsOneFinding() throws {
        let findings = try foundation(2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 1)
        XCTAssertEqual(findings.map(\.title), ["problem wrongThread", "note fork"])
        XCTAssertEqual(
            findings.first?.problem.contains("ran on worker, other, t4 and 9 others 12 times, and on main too"), true,
            "\(findings)")
    }

    func testAnObserverOfAnyNameThatIsCalledElsewhereIsOneFinding() throws {
        let register = #""t":1,"thread":1,"stage":"register","observer":1,"foundation":true,"center":"1""#
        let posts = [("A", 2), ("B", 2), ("C", 2), ("A", 1)].enumerated().flatMap { number, post in
            let fields = #""thread":\#(post.1),"name":"\#(post.0)","post":\#(number + 1),"foundation":true"#
            return [
                #""t":2,\#(fields),"stage":"post","center":"1""#, #""t":2,\#(fields),"stage":"deliver","observer":1"#,
                #""t":2,\#(fields),"stage":"return","observer":1"#, #""t":2,\#(fields),"stage":"postEnd","count":1"#,
            ]
        }
        expect(
            "problem wrongThread", ["observer 1 of any name was added on main, but its handler ran on worker 3 times"],
            in: try findings([register] + posts + [#""t":3,"thread":1,"stage":"end","reason":"exit""#]))
    }

    func testAFoundationObserverThatIsCalledOnlyElsewhereIsTheFirstNoteAndItsRemedyIsTheRule() throws {
        let findings = try foundation(2, 3)
        XCTAssertEqual(findings.map(\.title), ["note wrongThread", "note fork"])
        XCTAssertEqual(findings.first?.remedy.contains("'Done on main'"), true, "\(findings)")
    }

    // MARK: Tokens

    private func removal(_ reason: String, version: Int = 3, handled: Bool = false) throws -> [Finding] {
        let handling = [
            #""t":1200,"thread":1,"stage":"post","name":"Done","post":9,"count":1"#,
            #""t":1300,"thread":1,"stage":"deliver","name":"Done","post":9,"observer":1"#,
            #""t":1400,"thread":1,"stage":"return","name":"Done","post":9,"observer":1"#,
        ]
        let register = #""t":1000,"thread":1,"stage":"register","name":"Done","observer":1,"target":1"#
        return try findings(
            [register] + (handled ? handling : []) + [
                #""t":57000,"thread":1,"stage":"remove","name":"Done","observer":1\#(reason)"#,
                #""t":99000,"thread":2,"stage":"post","name":"Done","post":1,"count":0"#,
                #""t":99999,"thread":1,"stage":"end","reason":"exit""#,
            ], version: version)
    }

    func testATokenThatWasReleasedAtOnceIsAProblemAndAnObserverThatWasCancelledIsANote() throws {
        expect(
            "problem removedBeforePost",
            ["was removed 56 µs after it was added, because its token was released", "keep the token"],
            in: try removal(#","reason":"released""#))
        let cancelled = expect("note removedBeforePost", in: try removal(#","reason":"cancelled""#))
        XCTAssertFalse(cancelled.contains("keep the token"), cancelled)
        expect("note removedBeforePost", in: try removal(#","reason":"released""#, handled: true))
        expect("note removedBeforePost", ["keep the token"], in: try removal("", version: 2))
    }

    func testObserversOfOneLocationThatAreNeverRemovedAreOneNoteWhoseRemedyIsAWeakReference() throws {
        func registers(_ targets: Int...) -> [String] {
            targets.enumerated().map { number, target in
                #""t":1,"thread":1,"stage":"register","name":"Done","observer":\#(number + 1),"target":\#(target)"#
                    + #","file":"p/Window.swift","line":7"#
            }
        }
        let posts = (1...3).map { observer in #""t":2,"thread":1,"stage":"deliver","post":1,"observer":\#(observer)"# }
        let end = #""t":3,"thread":1,"stage":"end","reason":"exit""#
        let post = #""t":2,"thread":1,"stage":"post","name":"Done","post":1,"count":3"#
        let returns = (1...3).reversed().map { observer in
            #""t":2,"thread":1,"stage":"return","post":1,"observer":\#(observer)"#
        }
        expect(
            "note neverRemoved",
            ["3 observers of Done were added at one source location, and none was removed", "[weak self]"],
            in: try findings(registers(1, 1, 1) + [post] + posts + returns + [end]))
        // A program that keeps an observer, or one for each thread, is not noted.
        let one = [post.replacing("3", with: "1"), posts[0], returns[2], end]
        XCTAssertEqual(try findings(registers(1) + one).map(\.title), [])
    }

    // MARK: Signals and forks

    func testOfACrashWithoutItsThreadTheHandlersAreCandidatesInANoteUnlessNoOtherThreadCanHaveCrashed() throws {
        func running(_ threads: Int...) -> [String] {
            threads.flatMap { thread in
                [
                    #""t":1,"thread":\#(thread),"stage":"register","name":"A","observer":\#(thread)"#
                        + #","target":\#(thread)"#,
                    #""t":2,"thread":\#(thread),"stage":"post","name":"A","post":\#(thread),"count":1"#,
                    #""t":2,"thread":\#(thread),"stage":"deliver","name":"A","post":\#(thread),"observer":\#(thread)"#,
                ]
            }
        }
        let crash = [#""t":3,"stage":"end","reason":"signal","signal":11"#]
        expect(
            "note endedInHandler",
            [
                "while 1 thread was in a handler", "that thread is a candidate", " 2 ns end \"signal 11\"",
                "candidate: worker in the handler of observer 2 of A",
            ],
            in: try findings(running(2) + crash, version: 3))
        expect(
            "note endedInHandler",
            [
                "candidate: worker in the handler of observer 2 of A",
                "candidate: other in the handler of observer 3 of A",
            ],
            in: try findings(running(2, 3) + crash, version: 3))
        let only =
            Self.recording(running(1) + crash, version: 3).split(separator: "\n")
            .filter { !$0.hasPrefix(#"{"thread":2"#) && !$0.hasPrefix(#"{"thread":3"#) }.joined(separator: "\n") + "\n"
        expect("problem endedInHandler", ["candidate: main in the handler of observer 1 of A"], in: try findings(only))
        let killed = [#""t":3,"stage":"end","reason":"signal","signal":9"#]
        expect("note endedInHandler", ["was asked to end"], in: try findings(running(2) + killed, version: 3))
    }

    func testAFailedPreconditionIsNotCalledAUseAfterRelease() throws {
        for (signal, isRelease) in [(4, false), (5, false), (6, false), (11, true)] {
            let text = expect(
                "problem endedInHandler", ["signal \(signal)"],
                in: try findings([
                    #""t":1000,"thread":1,"stage":"register","name":"A","observer":1,"target":1"#,
                    #""t":2000,"thread":1,"stage":"post","name":"A","post":1,"count":1"#,
                    #""t":2000,"thread":1,"stage":"deliver","name":"A","post":1,"observer":1,"target":1"#,
                    #""t":3000,"thread":1,"stage":"end","reason":"signal","signal":\#(signal)"#,
                ]))
            XCTAssertEqual(text.contains("released"), isRelease, text)
        }
    }

    func testAForkSaysWhichOfItsCopiesTheRecordingHas() throws {
        let fork = [#""t":1000,"thread":1,"stage":"fork""#, #""t":9000,"thread":1,"stage":"end","reason":"exit""#]
        expect("note fork", ["forked once; no copy is in this recording"], in: try findings(fork))
        let copy = Self.recording([#""t":4000,"thread":1,"stage":"end","reason":"exit""#])
            .replacing("\"process\":1", with: "\"process\":2").replacing("\"t\":0", with: "\"t\":2000")
        expect(
            "note fork", ["this recording also has 1 later process of its name"],
            in: try findings(Self.recording(fork) + copy))
        // The copy may be faster than the record of the fork.
        let begin = #""t":500,"thread":1,"stage":"log","message":"begins""#
        let late = fork.map { $0.replacing(#""t":1000"#, with: #""t":5000"#) }
        expect(
            "note fork", ["this recording also has 1 later process of its name"],
            in: try findings(Self.recording([begin] + late) + copy))
    }

    // MARK: Help

    func testTheHelpShowsTheDefaultsOfAllLimits() throws {
        let help = try Shell.run("COLUMNS=200 notify-demo diagnose --help").output
        for words in ["(default: 16ms)", "(default: 1000)", "(default: 1s)", "(default: 100)"] {
            XCTAssertTrue(help.contains(words), help)
        }
    }

    // MARK: Cost

    /// With a pass over the posts for each observer, this would take minutes.
    func testFiftyThousandPostsAndObserversOfOneNameAreDiagnosed() throws {
        func records(_ count: Int, sender: String) -> [String] {
            (1...count).flatMap { number in
                [
                    #""t":\#(number),"thread":1,"stage":"register","name":"A","observer":\#(number),"#
                        + #""target":1\#(sender)"#,
                    #""t":\#(number),"thread":2,"stage":"post","name":"A","post":\#(number),"count":0"#,
                ]
            } + [#""t":60000,"thread":1,"stage":"end","reason":"exit""#]
        }
        for (count, sender) in [(50_000, ""), (20_000, #","sender":"7f","type":"Window""#)] {
            let findings = try findings(records(count, sender: sender))
            XCTAssertEqual(
                findings.map(\.kind).filter { $0 == "neverDelivered" }, ["neverDelivered"], "\(findings.count)")
        }
    }
}

import ThreadedNotifications
import XCTest

@testable import DeliveryRecording

/// Reading the records of Foundation's own center.
final class FoundationRecordsTests: XCTestCase {
    private func read(_ lines: String...) throws -> Recording {
        let header = #"{"recording":2,"process":100,"name":"program","n":1,"t":1,"wall":1}"#
        return try Recording(bytes: Array(([header] + lines).joined(separator: "\n").utf8) + [0x0A], name: "f")
    }

    func testAHandlerHasTheNameOfItsPostAndARemovalThatOfItsObserver() throws {
        let recording = try read(
            #"{"n":1,"t":1,"thread":1,"stage":"register","observer":7,"foundation":true}"#,
            #"{"n":2,"t":1,"thread":1,"stage":"register","observer":8,"name":"Saved","foundation":true}"#,
            #"{"n":3,"t":2,"thread":2,"stage":"post","post":3,"name":"Loaded","foundation":true}"#,
            #"{"n":4,"t":3,"thread":2,"stage":"deliver","post":3,"observer":7,"foundation":true}"#,
            #"{"n":5,"t":4,"thread":2,"stage":"return","post":3,"observer":7,"foundation":true}"#,
            #"{"n":6,"t":5,"thread":2,"stage":"postEnd","post":3,"count":1,"foundation":true}"#,
            #"{"n":7,"t":6,"thread":1,"stage":"remove","observer":8,"count":0,"foundation":true}"#,
            #"{"n":8,"t":7,"thread":1,"stage":"remove","observer":7,"count":0,"foundation":true}"#)
        XCTAssertEqual(
            recording.records.map(\.name),
            [nil, "Saved", "Loaded", "Loaded", "Loaded", "Loaded", "Saved", nil])
    }

    func testAPostHasTheNumberOfItsHandlersWhenItHasReturned() throws {
        let recording = try read(
            #"{"n":1,"t":1,"thread":1,"stage":"post","post":1,"name":"Saved","foundation":true}"#,
            #"{"n":2,"t":2,"thread":1,"stage":"capture","post":2,"by":1,"name":"Saved","count":4}"#,
            #"{"n":3,"t":3,"thread":1,"stage":"postEnd","post":1,"count":2,"foundation":true}"#,
            #"{"n":4,"t":4,"thread":1,"stage":"post","post":3,"name":"Saved","foundation":true}"#,
            #"{"n":5,"t":5,"thread":2,"stage":"post","post":4,"name":"Saved","foundation":true}"#,
            #"{"n":6,"t":6,"thread":2,"stage":"postEnd","post":4,"count":0,"foundation":true}"#)
        // The capture by a center of the library is an observer too.
        XCTAssertEqual(recording.records.map(\.count), [3, 4, 2, nil, 0, 0])
        let index = RecordingIndex(recording)
        XCTAssertEqual(index.posts.map(\.isUnfinished), [false, false, true, false])
        XCTAssertEqual(index.posts.map(\.returned), [2, -1, -1, 5])
    }

    func testThePostOfANotificationQueueHasTheLocationOfItsEnqueue() throws {
        let recording = try read(
            #"{"n":1,"t":1,"thread":1,"stage":"enqueue","name":"Saved","style":"asap","foundation":true,"#
                + #""file":"main.swift","line":7}"#,
            #"{"n":2,"t":2,"thread":2,"stage":"post","post":1,"name":"Saved","foundation":true,"#
                + #""at":"/usr/lib/libFoundation.so+0x1"}"#,
            #"{"n":3,"t":3,"thread":1,"stage":"post","post":2,"name":"Saved","foundation":true,"#
                + #""at":"/usr/lib/libFoundation.so+0x1","function":"$s10FoundationABC"}"#)
        XCTAssertEqual(recording.records.map(\.location?.description), ["main.swift:7", "Foundation", "main.swift:7"])
        XCTAssertEqual(recording.records.map(\.foundation?.isCalledByFoundation), [false, true, false])
    }

    func testACallWithoutALocationHasItsFunctionAndModule() {
        for (function, address, text) in [
            ("$s3App4saveyyF+0x12", "/usr/bin/app+0x99", "App.save() -> () + 0x12 (app)"),
            ("$s3App4saveyyF", nil, "App.save() -> ()"), ("main", "/usr/bin/app+0x99", "main (app)"),
            (nil, "/usr/bin/app+0x99", "app + 0x99"), (nil, "app", "app"), (nil, nil, ""),
            ("$sNoName+0x1", nil, "$sNoName + 0x1"),
            ("_ZN3foo3barEv+0x1", "/lib/libfoo.so+0x2", "_ZN3foo3barEv + 0x1 (libfoo.so)"),
            ("$s10FoundationABC", "/usr/lib/libFoundationEssentials.so+0x7", "Foundation"),
        ] as [(String?, String?, String)] {
            XCTAssertEqual(CallerName.text(function: function, address: address), text)
        }
    }
}

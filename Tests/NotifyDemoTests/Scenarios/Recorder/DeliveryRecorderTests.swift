import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import Scenarios

final class DeliveryRecorderTests: XCTestCase {
    func testRecordsOfManyThreadsAreNumberedWithoutGapsAndNeitherClockRunsBackwards() {
        let recorder = DeliveryRecorder()
        let recorded = expectation(description: "recorded")
        recorded.expectedFulfillmentCount = 4
        for _ in 0..<4 {
            Thread {
                for _ in 0..<1000 { recorder.record(.post) }
                recorded.fulfill()
            }.start()
        }
        wait(for: [recorded], timeout: TestTimeout.seconds)
        let records = recorder.records
        XCTAssertEqual(records.map(\.sequence), Array(1...4000))
        XCTAssertEqual(records.map(\.monotonicNanoseconds), records.map(\.monotonicNanoseconds).sorted())
        XCTAssertEqual(Set(records.map(\.thread)).count, 4)
    }

    func testEveryEventOfADeliveryIsRecordedWithItsPostObserverAndTarget() throws {
        let recorder = DeliveryRecorder()
        let worker = RunLoopThread(name: "worker")
        let observer = try recorder.trace {
            try worker.start()
            let center = ThreadedNotificationCenter()
            let token = center.addObserver(forName: .test, on: worker) { _ in }
            center.post(name: .test)
            worker.stop()
            try worker.waitUntilFinished(timeout: TestTimeout.hang)
            token.cancel()
            return Int(token.id)
        }
        let records = recorder.records.filter { $0.notification == Notification.Name.test.rawValue }
        XCTAssertEqual(records.map(\.stage), [.register, .post, .append, .deliver, .return, .remove])
        XCTAssertEqual(records.map(\.observer), [observer, nil, observer, observer, observer, observer])
        XCTAssertEqual(Set(records.filter { $0.stage != .register && $0.stage != .remove }.map(\.post)).count, 1)
        XCTAssertEqual(records.map(\.thread.name), ["main", "main", "main", "worker", "worker", "main"])
        XCTAssertEqual(records[2].target?.name, "worker")
    }

    func testNothingIsRecordedAfterwardsAndATracerThatWasThereIsThereAgain() {
        let (outer, inner) = (DeliveryRecorder(), DeliveryRecorder())
        let center = ThreadedNotificationCenter()
        outer.trace {
            inner.trace { _ = center.post(name: .test) }
            center.post(name: .test)
        }
        center.post(name: .test)
        XCTAssertEqual(inner.records.map(\.stage), [.post])
        XCTAssertEqual(outer.records.map(\.stage), [.post])
        XCTAssertNotEqual(inner.records[0].post, outer.records[0].post)
    }

    func testEveryStageOfTheLibraryIsAStageOfRecords() {
        for stage in DeliveryEvent.Stage.allCases {
            XCTAssertNotNil(DeliveryStage(rawValue: stage.rawValue), "\(stage)")
        }
    }
}

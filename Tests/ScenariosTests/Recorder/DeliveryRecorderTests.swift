import DeliveryDiagnostics
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

    func testTheEchoIsGivenEachRecordOnTheRecordingThread() {
        let echoed = Gate("the echo")
        let recorder = DeliveryRecorder { record in
            if record.message == "here" && record.thread.number == 1 { echoed.open() }
        }
        recorder.log("here")
        XCTAssertTrue(echoed.isOpen)
    }
}

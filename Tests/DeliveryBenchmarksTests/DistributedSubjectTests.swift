import DeliveryDiagnostics
import DistributedNotifications
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryBenchmarks

/// The parts of the distributed workloads. Runs on the main thread, where subjects are measured.
final class DistributedSubjectTests: XCTestCase {
    private let conditions = BenchmarkConditions(observersProgram: BenchmarkConditions.observersProgram)

    func testADeliveredFrameHas200Bytes() throws {
        let poster = try DistributedPoster(timeout: TestTimeout.hang)
        defer { poster.end() }
        let observers = try WireObservers.registered(
            1, name: DistributedPoster.name.rawValue, at: ServerDirectory(path: poster.directory),
            timeout: TestTimeout.hang)
        let end = try XCTUnwrap(EventDescriptor())
        try poster.post()
        var counted: [[Int]] = []
        observers.count(until: end.number) { observer, count, missed in
            counted.append([observer, count, missed])
            end.makeReady()
        }
        XCTAssertEqual(counted, [[0, 1, 0]])
        XCTAssertEqual(observers.countedBytes, 200)
        XCTAssertEqual(DistributedPoster.frameSize, 200)
    }

    func testTheObserversProcessEndsByItselfWhenThisOneCloses() throws {
        for kind in ObserversProgram.Kind.allCases where kind != .plain {
            let poster = try DistributedPoster(timeout: TestTimeout.hang)
            defer { poster.end() }
            let observers = try ObserverProcesses(kind, 2, path: poster.directory, conditions)
            XCTAssertTrue(observers.end(), "\(kind) was killed")
        }
    }

    func testObserversInProcessesOfTheirOwnHandleEachPostOnceAndEndByThemselves() throws {
        for kind in [ObserversProgram.Kind.wire, .center] {
            let poster = try DistributedPoster(timeout: TestTimeout.hang)
            defer { poster.end() }
            let observers = try ObserverProcesses(kind, 3, areSeparate: true, path: poster.directory, conditions)
            XCTAssertEqual(Set(observers.children.map(\.process)).count, 3)
            for _ in 0..<2 {
                observers.expect(2)
                try poster.post()
                try poster.post()
                XCTAssertNoThrow(try observers.waitForAll())
            }
            XCTAssertTrue(observers.end(), "one was killed")
        }
    }

    func testAnyOfSeveralObserversProcessesThatEndsIsAnError() throws {
        let poster = try DistributedPoster(timeout: TestTimeout.hang)
        defer { poster.end() }
        let observers = try ObserverProcesses(.wire, 3, areSeparate: true, path: poster.directory, conditions)
        observers.expect(1)
        kill(observers.children[2].process, SIGKILL)
        XCTAssertThrowsError(try observers.waitForAll()) { XCTAssertEqual($0 as? BenchmarkError, .observersEnded) }
        observers.end()
    }

    func testAnObserversProcessThatEndsIsAnError() throws {
        let poster = try DistributedPoster(timeout: TestTimeout.hang)
        defer { poster.end() }
        let observers = try ObserverProcesses(.wire, 2, path: poster.directory, conditions)
        observers.expect(1)
        kill(observers.children[0].process, SIGKILL)
        XCTAssertThrowsError(try observers.waitForAll()) { XCTAssertEqual($0 as? BenchmarkError, .observersEnded) }
        observers.end()
    }

    func testASecondPostIsAnError() throws {
        let poster = try DistributedPoster(timeout: TestTimeout.hang)
        defer { poster.end() }
        let observers = try ObserverProcesses(.wire, 1, path: poster.directory, conditions)
        let subject = DistributedSubject(
            observers, isRoundTrip: false,
            post: {
                try poster.post()
                try poster.post()
                // Both notifications have arrived when the second wait ends.
                try observers.waitForEach(2)
            }, end: {})
        XCTAssertThrowsError(try subject.measure(1)) {
            XCTAssertEqual($0 as? BenchmarkError, .miscounted(handled: 2, posted: 1))
        }
        subject.end()
    }

    func testWithoutAProgramForTheObserversThereIsNoFigureAndNoServerIsLeft() {
        XCTAssertThrowsError(try Distributed.posts(observers: 1).contenders[1].make(BenchmarkConditions())) {
            XCTAssertEqual($0 as? BenchmarkError, .noObserversProgram)
        }
    }
}

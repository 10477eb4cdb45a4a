import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class AttemptPauseTests: XCTestCase {
    func testEachPauseIsTwiceAsLongUpToTheLongest() {
        var pause = AttemptPause()
        let taken = (0..<9).map { _ in pause.take() }
        XCTAssertEqual(taken, [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000].map { Duration.milliseconds($0) })
        pause.reset()
        XCTAssertEqual(pause.take(), AttemptPause.shortest)
    }

    func testAFirstPauseAboveTheLongestDoesNotChange() {
        var pause = AttemptPause(first: .seconds(3600))
        let taken = (0..<2).map { _ in pause.take() }
        XCTAssertEqual(taken, [.seconds(3600), .seconds(3600)])
    }

    /// The pause between attempts is longer than the test.
    func testPostsAndSynchronizationsCauseNoAttempt() throws {
        // No server can be started while the parent directory is missing.
        let parent = "/tmp/pause-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let directory = ServerDirectory(path: "\(parent)/directory")
        let connection = try CenterConnection(
            directory: directory, limits: ClientLimits(), pause: AttemptPause(first: .seconds(3600)))
        defer { connection.close() }
        for _ in 0..<300 {
            assertThrows(Self.problem(directory)) { try connection.write([], name: "n") }
            assertThrows(Self.problem(directory)) { try connection.synchronize(timeout: .seconds(20)) }
        }
        // An attempt would succeed now.
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: parent) }
        for _ in 0..<300 { assertThrows(Self.problem(directory)) { try connection.write([], name: "n") } }
        XCTAssertNotEqual(access(directory.path, F_OK), 0)
    }

    private static func problem(_ directory: ServerDirectory) -> DistributedError {
        let parent = directory.path.dropLast("/directory".count)
        return .pathNotUsable(
            path: directory.path,
            problem: "the directory above it, \(parent), is not there. Make that, or use another directory")
    }
}

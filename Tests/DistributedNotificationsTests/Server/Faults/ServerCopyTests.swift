import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The rights and resource limits with which a server starts.
final class ServerCopyTests: XCTestCase {
    func testAProgramWithOtherRightsOrTooLowHardLimitsStartsNoServerAndTheErrorSaysWhy() throws {
        let program = try XCTUnwrap(ServerProgram.find().program)
        let canExecute = OtherUser.perform { faccessat(AT_FDCWD, program, X_OK, AT_EACCESS) == 0 } == true
        for (role, isPossible, words) in [
            // The variable may come from another user.
            (
                .lowered, OtherUser.isPossible,
                [
                    "/tmp/distributed-notifications-65534: ", "real and effective ids that differ",
                    "Start one as user 65534: notification-server.",
                ]
            ),
            (.copied, OtherUser.isPossible && canExecute, ["status 77: gained rights when it was executed"]),
            (
                .limited, true,
                [
                    "has limits that are too low: it may use 40 open files, and a server needs 128. "
                        + "Raise the hard limit (ulimit -Hn)"
                ]
            ),
        ] as [(FaultClient.Role, Bool, [String])] where isPossible {
            let temporary = try FaultDirectory()
            if role != .limited { temporary.giveToNobody() }
            let client = try FaultClient(role, at: temporary, ["XDG_RUNTIME_DIR": temporary.directoryAbove])
            let answer = try client.line()
            XCTAssertTrue(words.allSatisfy(answer.contains), "\(role): \(answer)")
        }
    }

    func testAServerRaisesItsSoftLimitsToTheHardOnes() throws {
        let temporary = try FaultDirectory()
        let client = try FaultClient(.limitedSoftly, at: temporary)
        let server = try XCTUnwrap(Int32(try client.line().dropFirst("served ".count)))
        let limits = try String(contentsOfFile: "/proc/\(server)/limits", encoding: .utf8).split(separator: "\n")
        /// The soft and the hard one.
        func limit(_ name: String) throws -> [Substring] {
            let line = try XCTUnwrap(limits.first { $0.hasPrefix(name) })
            return Array(line.dropFirst(name.count).split(separator: " ").prefix(2))
        }
        let time = try limit("Max cpu time")
        XCTAssertEqual(time.first, time.last)
        let files = try limit("Max open files")
        XCTAssertEqual(
            files.first.flatMap { Int($0) }, min(files.last.flatMap { Int($0) } ?? .max, ServerLimits().clients + 64))
    }
}

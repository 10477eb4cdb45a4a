import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The rights and resource limits with which a server starts.
final class ServerCopyTests: XCTestCase {
    private func skipUnlessRoot() throws {
        try XCTSkipUnless(OtherUser.isPossible, "only root can lower its rights")
    }

    func testAProgramWithALoweredEffectiveUserStartsNoServerAndTheErrorSaysWhy() throws {
        try skipUnlessRoot()
        let temporary = try FaultDirectory()
        temporary.giveToNobody()
        let client = try FaultClient(.lowered, at: temporary, ["XDG_RUNTIME_DIR": temporary.directoryAbove])
        // The variable may come from another user.
        XCTAssertEqual(try client.line(), "/tmp/distributed-notifications-\(FaultClientProgram.nobody)")
        let answer = try client.line()
        XCTAssertTrue(answer.contains("real and effective ids that differ"), answer)
        XCTAssertTrue(answer.hasSuffix("Start one as user 65534: notification-server."), answer)
    }

    func testAServerThatGainsRightsEndsWithAStatusAndSaysWhy() throws {
        try skipUnlessRoot()
        guard case .program(let found) = ServerProgram.find() else { return XCTFail("there is no server program") }
        let program = found.path
        let canExecute = OtherUser.perform { faccessat(AT_FDCWD, program, X_OK, AT_EACCESS) == 0 }
        try XCTSkipUnless(canExecute == true, "nobody cannot execute \(program)")
        let temporary = try FaultDirectory()
        temporary.giveToNobody()
        let client = try FaultClient(.copied, at: temporary)
        let answer = try client.line()
        XCTAssertTrue(answer.hasPrefix("77 gained rights when it was executed"), answer)
    }

    func testAServerWhoseHardLimitsAreTooLowIsNotStartedAndTheErrorSaysWhich() throws {
        let temporary = try FaultDirectory()
        let client = try FaultClient(.limited, at: temporary)
        let answer = try client.line()
        XCTAssertTrue(
            answer.contains(
                "has limits that are too low: it may use 40 open files, and a server needs 128. "
                    + "Raise the hard limit (ulimit -Hn)"),
            answer)
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

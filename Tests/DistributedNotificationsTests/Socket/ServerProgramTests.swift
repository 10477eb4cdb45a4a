import XCTest

@testable import DistributedNotifications

final class ServerProgramTests: XCTestCase {
    private func choose(
        variable: String? = nil, runningProgram: String? = "/apps/program", searchPath: String? = "/usr/bin:/bin",
        runningProgramServes: Bool = false, executables: Set<String> = []
    ) -> ServerProgram.Choice {
        ServerProgram.choose(
            variable: variable, runningProgram: runningProgram, searchPath: searchPath,
            runningProgramServes: runningProgramServes, isExecutable: executables.contains)
    }

    private func program(_ path: String) -> ServerProgram.Choice { .program(ServerProgram(path: path, name: path)) }

    private let all: Set = [
        "/own/server", "/apps/notification-server", "/usr/bin/notification-server", "/bin/notification-server",
    ]

    func testTheVariableIsFirst() {
        XCTAssertEqual(
            choose(variable: "/own/server", runningProgramServes: true, executables: all), program("/own/server"))
    }

    func testTheExecutableBesideTheProgramIsSecond() {
        XCTAssertEqual(
            choose(variable: "", runningProgramServes: true, executables: all), program("/apps/notification-server"))
        XCTAssertEqual(
            choose(runningProgram: "/program", executables: ["/notification-server"]), program("/notification-server"))
    }

    func testTheFirstExecutableInTheSearchPathIsThird() {
        let executables = all.subtracting(["/apps/notification-server"])
        XCTAssertEqual(
            choose(runningProgramServes: true, executables: executables), program("/usr/bin/notification-server"))
        XCTAssertEqual(choose(runningProgram: nil, executables: executables), program("/usr/bin/notification-server"))
    }

    func testAProgramThatOptedInServesItselfIfThereIsNoExecutable() {
        XCTAssertEqual(
            choose(runningProgramServes: true), .program(ServerProgram(path: "/proc/self/exe", name: "/apps/program")))
    }

    func testRelativeDirectoriesInTheSearchPathAreIgnored() {
        for searchPath in [nil, "", "bin:.:../x"] {
            relativeDirectoriesInTheSearchPathAreIgnored(searchPath: searchPath)
        }
    }

    private func relativeDirectoriesInTheSearchPathAreIgnored(searchPath: String?) {
        guard case .none = choose(searchPath: searchPath, executables: ["bin/notification-server"]) else {
            XCTFail("a relative path was used")
            return
        }
    }

    func testAVariableThatNamesNoExecutableIsAProblemThatNamesIt() {
        for value in ["server", "/missing"] { aVariableThatNamesNoExecutableIsAProblemThatNamesIt(value: value) }
    }

    private func aVariableThatNamesNoExecutableIsAProblemThatNamesIt(value: String) {
        guard case .none(let problem) = choose(variable: value, runningProgramServes: true, executables: all) else {
            XCTFail("another program was used")
            return
        }
        XCTAssertTrue(problem.contains("DISTRIBUTED_NOTIFICATIONS_SERVER is \(value)"))
    }

    func testWithoutAnyProgramTheProblemNamesTheThreeRemedies() {
        XCTAssertEqual(
            choose(),
            .none(
                problem: "there is no executable notification-server beside this program or in PATH. Build it "
                    + "beside this program (swift build --product notification-server, in its package), install it, "
                    + "or set DISTRIBUTED_NOTIFICATIONS_SERVER to its path; or call "
                    + "NotificationServer.runIfAsked() first in this program's main; or start a server in another "
                    + "terminal: notification-server, or notify-demo serve"))
    }

    func testOnlyTheArgumentsThatAClientGivesMakeAProgramTheServer() {
        XCTAssertEqual(ServerHandover.directory(in: ["notification-server", "--on-demand", "/d"]), "/d")
        XCTAssertNil(ServerHandover.directory(in: ["program", "--on-demand", "/d"]))
        XCTAssertNil(ServerHandover.directory(in: ["notification-server"]))
        XCTAssertNil(ServerHandover.directory(in: ["notification-server", "--on-demand", "/d", "x"]))
        XCTAssertNil(ServerHandover.directory(in: []))
    }
}

import XCTest

@testable import DistributedNotifications

final class ServerProgramTests: XCTestCase {
    private func choose(
        variable: String? = nil, runningProgram: String? = "/apps/program", searchPath: String? = "/usr/bin:/bin",
        serves: Bool = false, executables: Set<String> = []
    ) -> ServerProgram.Choice {
        ServerProgram.choose(
            variable: variable, runningProgram: runningProgram, searchPath: searchPath, runningProgramServes: serves,
            isExecutable: executables.contains)
    }

    private func program(_ path: String) -> ServerProgram.Choice { .program(ServerProgram(path: path, name: path)) }

    func testTheVariableIsFirstThenTheOneBesideTheProgramThenThePathThenTheProgramItself() {
        var all: Set = [
            "/own/server", "/apps/notification-server", "/usr/bin/notification-server", "/bin/notification-server",
        ]
        XCTAssertEqual(choose(variable: "/own/server", serves: true, executables: all), program("/own/server"))
        for path in ["/apps/notification-server", "/usr/bin/notification-server", "/bin/notification-server"] {
            XCTAssertEqual(choose(variable: "", serves: true, executables: all), program(path))
            all.remove(path)
        }
        XCTAssertEqual(
            choose(serves: true), .program(ServerProgram(path: "/proc/self/exe", name: "/apps/program")))
        XCTAssertEqual(
            choose(runningProgram: "/program", executables: ["/notification-server"]),
            program("/notification-server"))
        // A relative directory is ignored: the server runs in "/".
        XCTAssertEqual(
            choose(runningProgram: nil, searchPath: "bin:/bin", executables: ["bin/notification-server"]), choose())
    }

    func testAVariableThatNamesNoProgramIsAnErrorAlthoughThereAreOthers() {
        for value in ["server", "/nowhere"] {
            guard case .none(let problem) = choose(variable: value, serves: true) else {
                return XCTFail("another program was used")
            }
            XCTAssertTrue(problem.contains("DISTRIBUTED_NOTIFICATIONS_SERVER is \(value)"))
        }
    }

    func testWithoutAnyProgramTheProblemNamesTheRemedies() {
        guard case .none(let problem) = choose() else { return XCTFail("there is none") }
        for remedy in [
            "beside this program or in PATH", "swift build --product notification-server", "install it",
            "DISTRIBUTED_NOTIFICATIONS_SERVER", "NotificationServer.runIfAsked()", "notify-demo serve",
        ] { XCTAssertTrue(problem.contains(remedy), problem) }
    }

    func testOnlyTheArgumentsThatAClientGivesMakeAProgramTheServer() {
        XCTAssertEqual(ServerHandover.directory(in: ServerHandover.arguments(directory: "/d")), "/d")
        for arguments in [["program", "--on-demand", "/d"], ["notification-server"], []] {
            XCTAssertNil(ServerHandover.directory(in: arguments))
        }
        XCTAssertNil(ServerHandover.directory(in: ServerHandover.arguments(directory: "/d") + ["x"]))
    }
}

import XCTest

@testable import DistributedNotifications

final class ServerProgramTests: XCTestCase {
    private func choose(
        variable: String? = nil, runningProgram: String? = "/apps/program", searchPath: String? = "/usr/bin:/bin",
        serves: Bool = false, executables: Set<String> = []
    ) -> (program: String?, problem: String) {
        ServerStart.findProgram(
            variable: variable, runningProgram: runningProgram, searchPath: searchPath, runningProgramServes: serves,
            isExecutable: executables.contains)
    }

    func testTheVariableIsFirstThenTheOneBesideTheProgramThenThePathThenTheProgramItself() {
        let paths = ["/apps/notification-server", "/usr/bin/notification-server", "/bin/notification-server"]
        let all = Set(paths + ["/own/server"])
        XCTAssertEqual(choose(variable: "/own/server", serves: true, executables: all).program, "/own/server")
        for (index, path) in paths.enumerated() {
            XCTAssertEqual(choose(variable: "", serves: true, executables: Set(paths[index...])).program, path)
        }
        XCTAssertEqual(choose(serves: true).program, "/proc/self/exe")
        // A relative directory is ignored: the server runs in "/".
        XCTAssertNil(choose(searchPath: "bin:/bin", executables: ["bin/notification-server"]).program)
    }

    func testAVariableThatNamesNoProgramIsAnErrorAlthoughThereAreOthers() {
        for value in ["server", "/nowhere"] {
            let (program, problem) = choose(variable: value, serves: true, executables: ["server"])
            XCTAssertNil(program)
            XCTAssertTrue(problem.hasPrefix("DISTRIBUTED_NOTIFICATIONS_SERVER is \(value)"))
        }
    }

    func testWithoutAnyProgramTheProblemNamesTheRemedies() {
        let (program, problem) = choose()
        XCTAssertNil(program)
        for remedy in [
            "beside this program or in PATH", "swift build --product notification-server", "install it",
            "DISTRIBUTED_NOTIFICATIONS_SERVER", "NotificationServer.runIfAsked()", "notify-demo serve",
        ] { XCTAssertTrue(problem.contains(remedy), problem) }
    }

    func testOnlyTheArgumentsThatAClientGivesMakeAProgramTheServer() {
        XCTAssertEqual(ServerStart.directory(in: ServerStart.arguments(directory: "/d")), "/d")
        for arguments in [["program", "--on-demand", "/d"], ["notification-server"], []] {
            XCTAssertNil(ServerStart.directory(in: arguments))
        }
    }
}

import Testing

@testable import DistributedNotifications

struct ServerProgramTests {
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

    @Test func theVariableIsFirst() {
        #expect(choose(variable: "/own/server", runningProgramServes: true, executables: all) == program("/own/server"))
    }

    @Test func theExecutableBesideTheProgramIsSecond() {
        #expect(
            choose(variable: "", runningProgramServes: true, executables: all)
                == program("/apps/notification-server"))
        #expect(
            choose(runningProgram: "/program", executables: ["/notification-server"])
                == program("/notification-server"))
    }

    @Test func theFirstExecutableInTheSearchPathIsThird() {
        let executables = all.subtracting(["/apps/notification-server"])
        #expect(
            choose(runningProgramServes: true, executables: executables) == program("/usr/bin/notification-server"))
        #expect(choose(runningProgram: nil, executables: executables) == program("/usr/bin/notification-server"))
    }

    @Test func aProgramThatOptedInServesItselfIfThereIsNoExecutable() {
        #expect(
            choose(runningProgramServes: true)
                == .program(ServerProgram(path: "/proc/self/exe", name: "/apps/program")))
    }

    @Test(arguments: [nil, "", "bin:.:../x"])
    func relativeDirectoriesInTheSearchPathAreIgnored(searchPath: String?) {
        guard case .none = choose(searchPath: searchPath, executables: ["bin/notification-server"]) else {
            Issue.record("a relative path was used")
            return
        }
    }

    @Test(arguments: ["server", "/missing"])
    func aVariableThatNamesNoExecutableIsAProblemThatNamesIt(value: String) {
        guard case .none(let problem) = choose(variable: value, runningProgramServes: true, executables: all) else {
            Issue.record("another program was used")
            return
        }
        #expect(problem.contains("DISTRIBUTED_NOTIFICATIONS_SERVER is \(value)"))
    }

    @Test func withoutAnyProgramTheProblemNamesTheThreeRemedies() {
        #expect(
            choose()
                == .none(
                    problem: "there is no executable notification-server beside this program or in PATH. Install it, "
                        + "or set DISTRIBUTED_NOTIFICATIONS_SERVER to its path; or call "
                        + "NotificationServer.runIfAsked() first in this program's main; or start a server in another "
                        + "terminal: notification-server, or notify-demo serve"))
    }

    @Test func onlyTheArgumentsThatAClientGivesMakeAProgramTheServer() {
        #expect(ServerHandover.directory(in: ["notification-server", "--on-demand", "/d"]) == "/d")
        #expect(ServerHandover.directory(in: ["program", "--on-demand", "/d"]) == nil)
        #expect(ServerHandover.directory(in: ["notification-server"]) == nil)
        #expect(ServerHandover.directory(in: ["notification-server", "--on-demand", "/d", "x"]) == nil)
        #expect(ServerHandover.directory(in: []) == nil)
    }
}

import ArgumentParser
import Foundation

struct Bridge: Command {
    static let configuration = CommandConfiguration(
        abstract: "Connect the notifications of this user with those of other machines, through NATS.",
        discussion: """
            It executes notification-bridge with all arguments as they are: 'notify-demo bridge --help' lists the \
            options. The bridge publishes what this user posts under the names that are given, and posts here what \
            arrives from the others. 'notify-demo serve --status' shows what it does.

            The program is the one that the environment variable NOTIFICATION_BRIDGE names, else the one beside \
            notify-demo, else the first in PATH.

            EXAMPLES
              notify-demo bridge --nats nats://host --name DishReady
              notify-demo bridge --nats nats://host --hold KITCHEN \\
                  --name DishReady --name TableFree

            EXIT STATUS
              that of notification-bridge; and
              2    there is none, or it cannot be executed
            """)

    @Argument(parsing: .captureForPassthrough, help: "The arguments of notification-bridge.")
    var arguments: [String] = []

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let program = try BridgeProgram.find()
        // An ignored signal stays ignored in the program that is executed.
        signal(SIGPIPE, SIG_DFL)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &words)
        throw CommandError(description: "cannot execute \(program): \(String(cString: strerror(errno))).")
    }
}

/// Finds the executable of the bridge, which is built and installed only for those who ask for it.
enum BridgeProgram {
    static let name = "notification-bridge"
    static let variableName = "NOTIFICATION_BRIDGE"

    /// - Returns: the path of the environment variable's; of the one beside the running program; of the first in `PATH`.
    static func find(
        variable: String? = ProcessInfo.processInfo.environment[variableName],
        runningProgram: String? = Bundle.main.executableURL?.resolvingSymlinksInPath().path,
        searchPath: String? = ProcessInfo.processInfo.environment["PATH"],
        isExecutable: (String) -> Bool = FileManager.default.isExecutableFile
    ) throws(CommandError) -> String {
        if let variable, !variable.isEmpty {
            if isExecutable(variable) { return variable }
            throw CommandError(
                description: "\(variableName) is \(variable). Set it to the path of an executable, or unset it.")
        }
        let own = runningProgram.map { [($0 as NSString).deletingLastPathComponent] } ?? []
        let paths = (own + (searchPath ?? "").split(separator: ":").map(String.init)).map { "\($0)/\(name)" }
        if let path = paths.first(where: isExecutable) { return path }
        throw CommandError(
            description: """
                there is no \(name) beside this program or in PATH. Build it beside this program, in its package \
                (BRIDGE=tls swift build -c release --product \(name)), install it (Scripts/install.sh --bridge PREFIX), \
                or set \(variableName) to its path.
                """)
    }
}

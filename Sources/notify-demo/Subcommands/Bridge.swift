import ArgumentParser
import ChildProcesses
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
        let program = try ChildProgram.findBridge()
        // An ignored signal stays ignored in the program that is executed.
        signal(SIGPIPE, SIG_DFL)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        execv(program, &words)
        throw CommandError(description: "cannot execute \(program): \(String(cString: strerror(errno))).")
    }
}

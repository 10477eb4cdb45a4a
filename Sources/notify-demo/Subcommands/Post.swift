import ArgumentParser
import DistributedNotifications
import Foundation

struct Post: Command {
    static let configuration = CommandConfiguration(
        abstract: "Post a notification to the processes of this user on this computer.",
        discussion: """
            The notification reaches observers of its name and object; without an object, only observers that gave none. \
            The server is started if none is running. When the command ends, the server has passed the notification on \
            to its observers. Nothing is printed.

            EXAMPLES
              notify-demo post build-done
              notify-demo post done --object Kitchen --user-info dish=soup n:=3 hot:=true
              notify-demo post settings-changed --deliver-immediately
            """)

    @Argument(help: "The notification's name, at most 255 bytes. It comes before --user-info.")
    var name: String

    @Option(help: "The object, which identifies the sender; at most 1024 bytes.")
    var object: String?

    @OptionGroup var carried: UserInfoOptions

    @Flag(help: "Deliver it at once also to processes that have suspended delivery, after what is held for them.")
    var deliverImmediately = false

    @OptionGroup var server: ServerOption

    func validate() throws { try ValidationError.check { try DistributedCenter.check(name: name, object: object) } }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let center = try DistributedCenter(directory: server.directory)
        defer { center.close() }
        try center.post(
            name: Notification.Name(name), object: object, userInfo: carried.value(),
            deliverImmediately: deliverImmediately)
        // Connections have no order. Waiting keeps the order of commands that a script runs one after the other.
        try center.synchronize()
        return .success
    }
}

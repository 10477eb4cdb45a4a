import ArgumentParser
import DeliveryDiagnostics
import DistributedNotifications
import Foundation

struct Post: Command {
    static let configuration = CommandConfiguration(
        abstract: "Post a notification to the processes of this user on this computer.",
        discussion: """
            The notification reaches observers of its name and object; an observer may leave out either. Without an \
            object, it reaches only observers that gave no object. The server is started if none is running. When the \
            command ends, the server has passed the notification on to its observers. Nothing is printed.

            An entry of userInfo is text after =, and JSON after := ; 3 is an integer, 3.0 a real, and null is \
            refused. Write the name first: --user-info takes all arguments up to the next option.

            EXAMPLES
              notify-demo post build-done
              notify-demo post done --object Kitchen --user-info dish=soup n:=3 hot:=true
              notify-demo post settings-changed --deliver-immediately

            EXIT STATUS
              0 posted, 2 not posted: the server cannot be reached or started
            """)

    @Argument(help: "The notification's name, at most 255 bytes.")
    var name: String

    @Option(help: "The object, which identifies the sender; at most 1024 bytes.")
    var object: String?

    @OptionGroup var carried: UserInfoOptions

    @Flag(help: "Deliver it at once also to processes that have suspended delivery, after what is held for them.")
    var deliverImmediately = false

    @Flag(help: "Print the notification as one JSON object.")
    var json = false

    @OptionGroup var server: ServerOption

    func validate() throws { try ValidationError.check { try DistributedCenter.check(name: name, object: object) } }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let userInfo = try carried.value()
        let center = try DistributedCenter(directory: server.directory)
        defer { center.close() }
        try center.post(
            name: Notification.Name(name), object: object, userInfo: userInfo, deliverImmediately: deliverImmediately)
        // Connections have no order. Waiting keeps the order of commands that a script runs one after the other.
        try center.synchronize()
        if json {
            let posted = Posted(name: name, object: object, userInfo: userInfo, deliverImmediately: deliverImmediately)
            try terminal.print(JSONText.of(posted))
        }
        return .success
    }

    private struct Posted: Encodable {
        var name: String
        var object: String?
        var userInfo: [String: PropertyListValue]?
        var deliverImmediately: Bool
    }
}

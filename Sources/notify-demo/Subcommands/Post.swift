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
              notify-demo post done --object Kitchen --user-info '{"dish":"soup","n":3,"hot":true}'
            """)

    @Argument(help: "The notification's name, at most 255 bytes.")
    var name: String

    @Option(help: "The object, which identifies the sender; at most 1024 bytes.")
    var object: String?

    @Option(help: ArgumentHelp("The userInfo, an object of JSON. 3 is an integer and 3.0 a real.", valueName: "json"))
    var userInfo: String?

    @Flag(help: "Deliver it at once also to processes that have suspended delivery, after what is held for them.")
    var deliverImmediately = false

    @OptionGroup var server: ServerOption

    func validate() throws {
        try ValidationError.check { try DistributedCenter.check(name: name, object: object) }
        _ = try propertyList()
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let center = try DistributedCenter(directory: server.directory)
        defer { center.close() }
        try center.post(
            name: Notification.Name(name), object: object, userInfo: propertyList(),
            deliverImmediately: deliverImmediately)
        // Connections have no order. Waiting keeps the order of commands that a script runs one after the other.
        try center.synchronize()
        return .success
    }

    private func propertyList() throws -> [String: PropertyListValue]? {
        guard let userInfo else { return nil }
        let value = try? PropertyListValue(JSONSerialization.jsonObject(with: Data(userInfo.utf8)))
        if case .dictionary(let values)? = value { return values }
        throw ValidationError("--user-info takes an object of JSON without null, such as {\"dish\":\"soup\"}.")
    }
}

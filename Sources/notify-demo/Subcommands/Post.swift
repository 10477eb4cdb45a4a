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

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            """
            Entries of userInfo: key=text, or key:=JSON for numbers, true and false, arrays and dictionaries, such as \
            count:=3.
            """, valueName: "entry"))
    var userInfo: [String] = []

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

    /// Reads the entries of userInfo. 3 is an integer and 3.0 a real. Null and numbers beyond 64 bits are refused.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: `ValidationError` for a malformed entry and for a duplicate key.
    func propertyList() throws -> [String: PropertyListValue]? {
        var values: [String: PropertyListValue] = [:]
        for entry in userInfo {
            guard let parts = entry.wholeMatch(of: /([^=]*?)(:?)=(.*)/.dotMatchesNewlines()) else {
                throw ValidationError(
                    "--user-info takes key=text or key:=JSON, and \"\(entry)\" has no \"=\". If it is the name of the "
                        + "notification, write it before --user-info.")
            }
            let (key, text) = (String(parts.1), String(parts.3))
            if key.isEmpty {
                throw ValidationError("--user-info takes key=text or key:=JSON, and \"\(entry)\" has no key.")
            }
            let value = parts.2.isEmpty ? .string(text) : try Self.json(text, of: key)
            if values.updateValue(value, forKey: key) != nil {
                throw ValidationError("--user-info contains the key \"\(key)\" twice.")
            }
        }
        return values.isEmpty ? nil : values
    }

    private static func json(_ text: String, of key: String) throws -> PropertyListValue {
        let problem: String
        do {
            return try PropertyListValue(
                JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
        } catch let error as DistributedError {
            problem = "cannot be posted: \(error.path.map { "\($0) " } ?? "")\(error.cause ?? "")"
        } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"].map { "\($0)" } ?? "\(error)"
            problem = "is not JSON: \(reason.trimmingCharacters(in: ["."]))"
        }
        throw ValidationError(
            "the value of \"\(key)\" \(problem). JSON follows :=, such as 3, true, [1,2] or {\"a\":\"b\"}; "
                + "for text, write \(key)=\(text).")
    }
}

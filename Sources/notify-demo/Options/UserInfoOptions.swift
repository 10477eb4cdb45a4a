import ArgumentParser
import DistributedNotifications

/// The options for a notification's userInfo.
struct UserInfoOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            """
            Entries of userInfo: key=text, or key:=JSON for numbers, true and false, arrays and dictionaries, such as \
            count:=3. For dates and data, use --plist.
            """, valueName: "entry"))
    var userInfo: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Read userInfo from a property list in XML or binary form, or JSON, whose root is a dictionary; - is \
            standard input.
            """, valueName: "file"),
        completion: .file(extensions: ["plist"]))
    var plist: String?

    func validate() throws {
        if plist != nil, !userInfo.isEmpty {
            throw ValidationError("--user-info and --plist both give the userInfo. Leave out one of them.")
        }
        _ = try UserInfoEntry.userInfo(userInfo)
    }

    /// - Returns: nil if no userInfo was given.
    func value() throws -> [String: PropertyListValue]? {
        if let plist { return try UserInfoFile.read(plist) }
        return userInfo.isEmpty ? nil : try UserInfoEntry.userInfo(userInfo)
    }
}

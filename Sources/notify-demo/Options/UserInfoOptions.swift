import ArgumentParser
import DistributedNotifications

/// What a notification carries.
struct UserInfoOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            """
            Entries of userInfo: key=text, or key:=JSON for numbers, true and false, arrays and dictionaries, such as \
            count:=3. Dates and data are had with --plist.
            """, valueName: "entry"))
    var userInfo: [String] = []

    @Option(
        help: ArgumentHelp(
            "Take userInfo from a property list in XML, binary or JSON, whose root is a dictionary; - is standard input.",
            valueName: "file"),
        completion: .file(extensions: ["plist"]))
    var plist: String?

    func validate() throws {
        if plist != nil, !userInfo.isEmpty {
            throw ValidationError("--user-info and --plist both say what userInfo is. Leave out one of them.")
        }
        _ = try UserInfoEntry.userInfo(userInfo)
    }

    /// Nil if there is none.
    func value() throws -> [String: PropertyListValue]? {
        if let plist { return try Self.userInfo(ofFileAt: plist) }
        return userInfo.isEmpty ? nil : try UserInfoEntry.userInfo(userInfo)
    }

    /// The one place in which a property-list file is read.
    private static func userInfo(ofFileAt path: String) throws -> [String: PropertyListValue] {
        guard !path.isEmpty else {
            throw DistributedError.propertyListNotReadable(file: "\"\"", place: nil, problem: "it has no name")
        }
        return try PropertyListReader.userInfo(path: path)
    }
}

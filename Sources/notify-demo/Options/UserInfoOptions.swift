import ArgumentParser
import DistributedNotifications
import Foundation

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
            "Take userInfo from a property list, in XML or binary, whose root is a dictionary.", valueName: "file"),
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
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw PropertyListFileError(path: path, problem: "there is no such file, or it cannot be read")
        }
        throw PropertyListFileError(path: path, problem: "property-list files are not read yet")
    }
}

/// A property-list file cannot be used.
struct PropertyListFileError: Error, CustomStringConvertible {
    var path: String
    var problem: String

    var description: String { "cannot read \(path.isEmpty ? "\"\"" : path): \(problem)." }
}

import ArgumentParser
import DistributedNotifications
import Foundation
import SystemPackage

/// The subcommand that `post --plist` starts as a child process. It reads a property list from standard input with
/// Foundation, which a bad list can crash, and writes the userInfo to standard output in the form of the wire, as
/// base64.
struct PropertyListChild: ParsableCommand {
    static let name = "property-list-child"
    static let configuration = CommandConfiguration(commandName: name, shouldDisplay: false)

    /// The exit status for a list that is refused, with the reason on standard error.
    static let refused: Int32 = 3

    func run() throws {
        ResourceLimit.disableCoreDumps()
        // A list of 221 bytes can expand to 628 MB.
        ResourceLimit.limitMemory(bytes: 256 << 20)
        let refusal: UserInfoError
        do {
            let list = try PropertyListSerialization.propertyList(
                from: FileHandle.standardInput.readToEnd() ?? Data(), format: nil)
            guard let dictionary = list as? [AnyHashable: Any] else { throw UserInfoError.noDictionary }
            var encoded: [UInt8] = []
            try PropertyListWriter.encode([String: PropertyListValue](userInfo: dictionary), into: &encoded)
            try FileDescriptor.standardOutput.writeAll(Data(encoded).base64EncodedData())
            return
        } catch let error as UserInfoError {
            refusal = error
        } catch let error as DistributedError {
            refusal = UserInfoError(error)
        } catch let error as CocoaError {
            // The error that names the line is wrapped in another.
            let cause = error.userInfo["_NSError"] as? NSError ?? error as NSError
            let reason = cause.userInfo["NSDebugDescription"] ?? cause.localizedDescription
            refusal = UserInfoError("is not a property list: \(reason)")
        }
        try FileDescriptor.standardError.writeAll(refusal.description.utf8)
        throw ExitCode(Self.refused)
    }
}

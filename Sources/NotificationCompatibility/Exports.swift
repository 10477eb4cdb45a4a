// One import brings Foundation, and the types behind Apple's names.
@_exported public import DistributedNotifications
@_exported public import Foundation
@_exported public import PostingQueues
@_exported public import ThreadedNotifications

internal import DeliveryRecording
internal import TerminalText

/// Observers that were not removed as intended: too early, too late, twice or never.
extension Evidence {
    /// Handlers that began after their observer had been removed (guarantee 6). A handler that was running during the
    /// removal may be recorded after it. The removal's record has the number of these.
    var deliveredAfterRemoval: [Finding] {
        index.spans.filter { span in
            let removed = words.removed(index.observer(of: span))
            return removed >= 0 && removed < span.begin
        }.grouped(by: index.observer).compactMap { spans in
            let observer = index.observer(of: spans[0])
            let removed = words.removed(observer)
            // The removing thread's own later deliveries were not running during the removal. A removal without the
            // number of running handlers says nothing of other threads.
            let own = spans.count { index.entry(removed).thread == $0.thread && !index.hasNoTarget($0) }
            let running = index.entry(removed).count < 0 ? spans.count : Int(index.entry(removed).count)
            let count = own + max(0, spans.count - own - running)
            guard count > 0 else { return nil }
            return Finding(
                problem: "\(words.observer(observer)) received \(counted(count, "notification")) after it was removed.",
                evidence: [words.registered(observer), removed, spans[spans.count - 1].begin],
                remedy: "Observe with ThreadedNotificationCenter, and call cancelAndWait() before you release anything "
                    + "that the handler uses: when it returns, no handler runs or will run.", weight: count)
        }
    }

    /// Observers of a Foundation center that were removed although they had been removed before. The center reuses the
    /// keys of removed observers, so the second removal may remove another observer.
    var removedTwice: [Finding] {
        // Records need not name the observer.
        index.records(of: .remove).filter { index.entry($0).reason == .alreadyRemoved }.grouped {
            index.entry($0).observer
        }.map { removals in
            let observer = index.entry(removals[0]).observer
            return Finding(
                problem: "\(observer < 0 ? "An observer" : words.observer(observer)) was removed again "
                    + "\(words.times(removals.count)). On Linux, that may remove an observer that was added later.",
                evidence: [words.registered(observer), words.removed(observer), removals[0]],
                remedy: "Remove a token once, and set the variable that holds it to nil.", weight: removals.count)
        }
    }

    /// Observers that were removed before their name was posted without an observer, and not replaced later. If such an
    /// observer never received anything, the program probably did not keep its token.
    var removedBeforePost: [Finding] {
        histories.filter { $0.name >= 0 }.flatMap { history -> [Finding] in
            let last = history.registrations.last ?? .max
            let removals = history.registrations.map { words.removed(index.entry($0).observer) }.filter { $0 > last }
                .sorted()
            /// The last removal before a post without an observer.
            func missed(_ post: Int32) -> Int32 {
                let removal = removals.firstIndex(after: post) - 1
                guard index.entry(post).count == 0, removal >= 0 else { return -1 }
                let asked = index.registration(of: index.entry(removals[removal]).observer)?.sender ?? -1
                return asked < 0 || asked == index.entry(post).sender ? removals[removal] : -1
            }
            return history.posts.filter { missed($0) >= 0 }.grouped(by: missed).map { posts in
                let removed = missed(posts[0])
                let (observer, isReleased) = (index.entry(removed).observer, index.entry(removed).reason == .released)
                let isLikelyMistake = isReleased && hasReceivedNothing(observer) && words.wasRemovedAtOnce(observer)
                let lifetime = ElapsedTime.text(index.time(from: words.registered(observer), to: removed))
                return Finding(
                    severity: isLikelyMistake ? .problem : .note,
                    problem: "\(words.observer(observer)) was removed \(lifetime) after it was added"
                        + "\(isReleased ? ", because its token was released" : ""). Then \(words.name(history.name)) "
                        + "was posted \(words.times(posts.count)) without an observer.",
                    evidence: [words.registered(observer), removed, posts[0]],
                    remedy: "If it should have received that, keep its token: releasing that removes the observer.",
                    weight: posts.count)
            }
        }
    }

    /// Observers that were added at one source location again and again and never removed, so that a post calls more
    /// and more handlers. A single observer that is left when the program ends is usual.
    var neverRemoved: [Finding] {
        index.observers.indices.compactMap { index.registration(of: Int32($0)) }.filter {
            $0.location >= 0 && !recording.isCalledByFoundation($0)
                && recording.completeness[recording.process(of: $0)] == .complete
        }.grouped { [Int32(recording.process(of: $0)), $0.name, $0.sender, $0.target, $0.location] }.compactMap {
            added in
            guard added.count > 1, added.allSatisfy({ words.removed($0.observer) < 0 }) else { return nil }
            return Finding(
                severity: .note,
                problem: "\(added.count) observers of \(words.name(added[0].name)) were added at one source location, "
                    + "and none was removed.",
                evidence: [added[0], added[added.count - 1]].map { words.registered($0.observer) },
                remedy: "Remove the observer when the object that observes is released, and write [weak self] in the "
                    + "handler: otherwise it keeps the object.", weight: added.count)
        }
    }
}

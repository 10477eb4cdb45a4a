// Replacing methods in the vtables of Foundation's classes.

#ifndef VTABLE_H
#define VTABLE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/// A method in the vtable of a class.
struct method {
    /// The symbols of the class's metadata and of the method.
    const char *metadata;
    const char *symbol;
    const void *replacement;
    /// Set by `replace_methods`: the method, and its place in the vtable.
    void *original;
    void **slot;
};

/// Replaces methods. Changes nothing and returns false if the vtable of a class does not contain a method exactly once.
bool replace_methods(struct method *methods, size_t count);

#pragma GCC visibility pop

#endif

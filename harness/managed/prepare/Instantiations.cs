// SPDX-License-Identifier: MIT
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.Intrinsics;

namespace Prepare;

/// <summary>Type arguments for generic methods and methods of generic types: one list that prefers
/// reference types, and one that prefers value types.</summary>
internal static class Instantiations
{
    private static readonly Type[] references =
    {
        typeof(string), typeof(object), typeof(MemoryStream), typeof(Exception), typeof(Type), typeof(Action), typeof(int[]),
        typeof(List<string>),
    };
    private static readonly Type[] values =
    {
        typeof(int), typeof(double), typeof(DayOfWeek), typeof(Guid), typeof(byte), typeof(char), typeof(ulong),
        typeof(KeyValuePair<string, string>), typeof(Vector128<byte>),
    };

    /// <summary>Returns lists of type arguments: those of the type, then those of the method. A
    /// method that is not generic has one empty list.</summary>
    public static List<RuntimeTypeHandle[]> Of(MethodBase method)
    {
        var all = new List<RuntimeTypeHandle[]>();
        Type[] ofType = method.DeclaringType?.GetGenericArguments() ?? Type.EmptyTypes;
        Type[] ofMethod = method.IsGenericMethodDefinition ? method.GetGenericArguments() : Type.EmptyTypes;
        if (ofType.Length + ofMethod.Length == 0)
        {
            all.Add(Array.Empty<RuntimeTypeHandle>());
            return all;
        }
        foreach (Type[][] order in new[] { new[] { references, values }, new[] { values, references } })
            if (Arguments(method, ofType, ofMethod, order) is RuntimeTypeHandle[] found && !all.Exists(a => Same(a, found)))
                all.Add(found);
        return all;
    }

    private static bool Same(RuntimeTypeHandle[] a, RuntimeTypeHandle[] b)
    {
        for (int i = 0; i < a.Length; i++)
            if (!a[i].Equals(b[i]))
                return false;
        return true;
    }

    private static RuntimeTypeHandle[]? Arguments(MethodBase method, Type[] ofType, Type[] ofMethod, Type[][] order)
    {
        var candidates = new List<Type>(order[0]);
        candidates.AddRange(order[1]);
        Type[]? outer = Fill(ofType, candidates, types => method.DeclaringType!.MakeGenericType(types));
        if (outer == null)
            return null;
        Type[]? inner = Fill(ofMethod, candidates, types => Construct(method, outer, types));
        if (inner == null)
            return null;
        var handles = new RuntimeTypeHandle[outer.Length + inner.Length];
        for (int i = 0; i < handles.Length; i++)
            handles[i] = (i < outer.Length ? outer[i] : inner[i - outer.Length]).TypeHandle;
        return handles;
    }

    private static object Construct(MethodBase method, Type[] outer, Type[] inner)
    {
        Type type = outer.Length == 0 ? method.DeclaringType! : method.DeclaringType!.MakeGenericType(outer);
        var constructed = (MethodInfo)MethodBase.GetMethodFromHandle(method.MethodHandle, type.TypeHandle)!;
        return constructed.MakeGenericMethod(inner);
    }

    /// <summary>Returns candidates for which <paramref name="make"/> succeeds. Tries first a
    /// fitting one for each parameter, then the same one for all parameters.</summary>
    private static Type[]? Fill(Type[] parameters, List<Type> candidates, Func<Type[], object> make)
    {
        if (parameters.Length == 0)
            return parameters;
        var own = new Type[parameters.Length];
        for (int i = 0; i < own.Length; i++)
            own[i] = candidates.Find(type => Fits(parameters[i], type)) ?? candidates[0];
        if (Can(make, own))
            return own;
        foreach (Type type in candidates)
        {
            Array.Fill(own, type);
            if (Can(make, own))
                return own;
        }
        return null;
    }

    private static bool Can(Func<Type[], object> make, Type[] types)
    {
        try
        {
            make(types);
            return true;
        }
        catch (Exception e) when (e is ArgumentException or TypeLoadException or NotSupportedException)
        {
            return false;
        }
    }

    /// <summary>Checks the constraints that can be checked without constructing anything.</summary>
    private static bool Fits(Type parameter, Type type)
    {
        GenericParameterAttributes special = parameter.GenericParameterAttributes;
        if ((special & GenericParameterAttributes.NotNullableValueTypeConstraint) != 0 && !type.IsValueType)
            return false;
        if ((special & GenericParameterAttributes.ReferenceTypeConstraint) != 0 && type.IsValueType)
            return false;
        foreach (Type constraint in parameter.GetGenericParameterConstraints())
            if (!constraint.ContainsGenericParameters && !constraint.IsAssignableFrom(type))
                return false;
        return true;
    }
}
